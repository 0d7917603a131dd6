-- Claims one lock: also confirms an offer, asks again after a lost reply, and looks whether it is a waiter's turn.
local answer = claim()
save()
return answer
