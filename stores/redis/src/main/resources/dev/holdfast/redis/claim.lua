-- Claims one lock: also confirms an offer, asks again after a lost reply, and looks whether it is a waiter's turn.
local answer = claim(0)
save()
return answer
