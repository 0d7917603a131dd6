/*
 * The queue of waiting claims of one lock, in a store that pushes: whether the rules by which clients and store speak
 * keep what Holdfast promises, in every order in which a small number of things can happen. Run by `./dev model`.
 *
 * What is modelled
 *
 *   The store does each request in one step, as a script in Redis is. A lock has an owner (a claim's id), the time its
 *   grant or offer has left, and a queue of claims, each with the time its place still counts.
 *
 *   CLAIM    mine, granted or offered: granted (so a claim may be repeated; one that was granted keeps its number).
 *            Free, and first in the queue: granted. Else into the queue, or its place is kept for longer. This one
 *            request asks, confirms an offer, and re-checks.
 *   RENEW    mine, granted and not run out: the lease begins anew.
 *   RELEASE  mine: free, and offered to the first in the queue. Also ends the place of the claim. This one request
 *            gives back, and withdraws.
 *
 *   Nothing happens in the store when time runs out: the next request, whoever sends it, finds that an owner's time is
 *   up, passes over the places that have died, and offers the lock to the first that has not. An offer stands for a
 *   short time and is pushed to its client.
 *
 *      client                                        store
 *        CLAIM ───────────────────────────────────►  held by another: queued
 *                    (another: RELEASE) ──────────►  offered to the first, for OFFER
 *        ◄──────────────────────────── push (may be lost)
 *        CLAIM, valid from here ──────────────────►  mine: granted, for LEASE
 *        ◄──────────────────────────── granted, number
 *        RENEW, RELEASE ──────────────────────────►  mine?
 *
 *   A client waits for a push and, as a safety net, asks again after POLL. One that finds its place gone has missed an
 *   offer, does not trust pushes for the rest of this wait, and asks again after HASTE, which is shorter than OFFER.
 *   It believes in its hold for LEASE from when it sent the request that was granted. A grant whose answer comes later
 *   than that is given back. At any time it may give up.
 *
 * What may go wrong
 *
 *   A connection breaks (BREAKS times) while a request or its answer is under way: the client hears that, and not
 *   whether the request was served; it is served later, at any time, or never. Pushes get lost, all of them if need be.
 *   A client crashes (CRASHES times) at any point; the request it had sent goes on. Clients, store and network may be
 *   as slow as you like: time passes between any two steps. With FORGETS, the store loses the last number, or its clock
 *   is set back; not both, after which a number may come twice.
 *
 * What is left out
 *
 *   Time runs in ticks, at the same rate for all (the margin of 1 % is there for that). Threads within a client, locks
 *   other than this one, several servers, a store that forgets grants. All locks of a server in Redis share the last
 *   number, so that it rises by more than one from grant to grant of one lock. An offer gets its number there when it is
 *   made, not when it is confirmed; no other grant comes in between. The highest number that a client has seen, which
 *   is the third below which no number is given.
 *
 * Safety: the assertions below. There a client that waits asks at any time, and a place in the queue dies at any time,
 * so that nothing depends on POLL, PLACE, or on pushes. Liveness (compiled with -DLIVE): `served`.
 *
 * In the liveness part clients claim again for ever, so nobody may starve behind the others. There the network is fast
 * (time passes when nothing else can happen) but for SLOW ticks: with a network that is always slower than an offer
 * stands, nobody would ever be served. A hold lasts for a tick at least, so that endless claims take endless time, and
 * nobody gives up.
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef CLAIMS
#define CLAIMS 2    /* how often each client asks */
#endif
#ifndef BREAKS
#define BREAKS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FORGETS
#define FORGETS 0
#endif
#ifndef SLOW
#define SLOW 2      /* ticks that come too early, where the network is fast otherwise */
#endif

#define LEASE 3     /* ticks */
#define PLACE 3
#define OFFER 2
#define POLL 2      /* as long as an offer stands, so that one may fall between two */
#ifdef SEED_SLOW_AFTER_A_MISS
#define HASTE POLL
#else
#define HASTE 1
#endif

#define idOf(i) (1 + (i) * CLAIMS + turn[i])
#define clientOf(id) (((id) - 1) / CLAIMS)
#define NOBODY 0

/* requests */
#define NONE 0
#define CLAIM 1
#define RENEW 2
#define RELEASE 3

/* answers */
#define GRANTED 4
#define QUEUED 5
#define REQUEUED 6  /* queued, and there was no place */
#define YES 7
#define NO 8
#define BROKEN 9    /* no answer: the connection is gone */

/* what a client is about */
#define IDLE 0
#define ASKING 1
#define WAITING 2
#define HOLDING 3
#define RENEWING 4
#define RETURNING 5
#define DONE 6
#define DEAD 7

/* ---- the store ---- */

byte owner;                 /* a claim's id */
bit offered;                /* to the owner, who has not confirmed yet */
byte left;                  /* of the grant or offer, in ticks */
byte queue[CLIENTS + 1];    /* ids, the first to come first */
byte length;
#ifdef LIVE
byte placeLeft[CLIENTS + 1];
#else
byte number;                /* of the last grant */
byte counter;               /* the last number */
byte micros;                /* of the clock: each grant takes one at least */
#endif

/* ---- the wires ---- */

byte request[CLIENTS];
byte answer[CLIENTS];
#ifdef LIVE
byte push[CLIENTS];         /* the id that was offered the lock */
#else
byte answerNumber[CLIENTS];
#endif
byte late[CLIENTS];         /* a request whose connection is gone, and the id it was sent for */
byte lateId[CLIENTS];

/* ---- the clients ---- */

byte doing[CLIENTS];
byte turn[CLIENTS];         /* how many claims came before this one */
byte sent[CLIENTS];         /* what a lease that began when the request was sent has left */
byte valid[CLIENTS];        /* how long the hold is surely valid */
#ifdef LIVE
byte poll[CLIENTS];         /* until the waiting client asks again */
bit missed[CLIENTS];        /* an offer, in this wait */
bit repeated[CLIENTS];      /* asked before in this wait */
bit renewed[CLIENTS];       /* once; a hold must end */
#endif

byte breaks = BREAKS;
byte crashes = CRASHES;
#ifdef LIVE
byte slow = SLOW;
#else
byte forgets = FORGETS;
#endif

/* ---- what the proof remembers ---- */

#ifndef LIVE
bit ended;                          /* the last grant ran out or was given back */
byte highest;                       /* number that anybody has held */
bit returned[CLIENTS * CLAIMS + 1]; /* given back or withdrawn, and nothing of it is under way */
#endif

/* scratch, used within one step only */
hidden byte k;
hidden byte at;
hidden byte yes;
hidden byte had;
hidden byte before;
hidden byte leftBefore;
hidden byte kept;

/* ---- the store's scripts ---- */

inline setFree() {
	owner = NOBODY;
	offered = 0;
	left = 0
}

/* at: where in the queue the claim is, or its length */
inline find(id) {
	at = 0;
	do
	:: at < length && queue[at] != id -> at++
	:: else -> break
	od
}

inline takeOut(from) {
	k = from;
	do
	:: k + 1 < length ->
		queue[k] = queue[k + 1];
#ifdef LIVE
		placeLeft[k] = placeLeft[k + 1];
#endif
		k++
	:: else -> break
	od;
	length--;
	queue[length] = NOBODY
#ifdef LIVE
	;
	placeLeft[length] = 0
#endif
}

#ifdef LIVE
#define isAlive(place) (placeLeft[place] > 0)
#else
#define isAlive(place) true
#endif

inline passOverTheDead() {
#if defined(LIVE) && !defined(SEED_DEAD_HEAD_STAYS)
	do
	:: length > 0 && placeLeft[0] == 0 -> takeOut(0)
	:: else -> break
	od
#else
	skip
#endif
}

inline offerToFirst() {
	passOverTheDead();
	if
	:: length > 0 && isAlive(0) ->
		owner = queue[0];
		offered = 1;
		left = OFFER;
		takeOut(0)
#ifdef LIVE
		;
		if
		:: doing[clientOf(owner)] != DEAD -> push[clientOf(owner)] = owner
		:: else
		fi
#endif
	:: else
	fi
}

#ifdef SEED_ANY_OFFER
#define mine(id) (owner == id || offered)
#else
#define mine(id) (owner == id)
#endif

#ifdef SEED_NUMBER_OF_THE_COUNTER
#define nextNumber (counter + 1)
#elif defined(SEED_NUMBER_OF_THE_CLOCK)
#define nextNumber micros
#else
#define nextNumber (micros > counter + 1 -> micros : counter + 1)
#endif

inline draw() {
	micros++;
	counter = nextNumber;
	number = counter
}

inline serveClaim(id) {
	if
	:: left == 0 -> setFree()
	:: else
	fi;
	yes = mine(id);
	kept = owner == id && !offered;
	had = yes;
	if
	:: !yes ->
		find(id);
		had = at < length;
		if
		:: !had -> queue[length] = id; length++
		:: else
		fi;
#ifdef LIVE
		placeLeft[at] = PLACE;
#endif
		if
		:: owner == NOBODY ->
			passOverTheDead();
			if
			:: queue[0] == id -> takeOut(0); yes = 1
			:: else -> offerToFirst()
			fi
		:: else
		fi
	:: else
	fi;
	if
	:: yes ->
		owner = id;
		offered = 0;
		left = LEASE;
#ifndef LIVE
		if
		:: !kept -> draw()
		:: else
		fi;
		ended = 0
#endif
	:: else
	fi
}

#ifdef SEED_RENEWAL_REVIVES
#define renewable(id) (owner == id && !offered)
#else
#define renewable(id) (owner == id && !offered && left > 0)
#endif

inline serveRenew(id) {
	yes = renewable(id);
	if
	:: yes -> left = LEASE
	:: else
	fi
}

inline serveRelease(id) {
#ifndef SEED_RELEASE_LEAVES_THE_PLACE
	find(id);
	if
	:: at < length -> takeOut(at)
	:: else
	fi;
#endif
	if
#ifdef SEED_RELEASE_OF_ANOTHERS
	:: owner != NOBODY ->
#else
	:: owner == id ->
#endif
#ifndef LIVE
		if
		:: !offered -> ended = 1
		:: else
		fi;
#endif
		setFree();
		offerToFirst()
	:: else
	fi
}

/* heard: the client still listens on the connection by which the request came */
inline serve(what, id, heard) {
	before = owner;
	leftBefore = left;
	if
	:: what == CLAIM ->
		serveClaim(id);
		if
		:: heard && yes ->
			answer[me] = GRANTED
#ifndef LIVE
			;
			answerNumber[me] = number
#endif
		:: heard && !yes -> answer[me] = (had -> QUEUED : REQUEUED)
		:: else
		fi
	:: what == RENEW ->
		serveRenew(id);
		if
		:: heard -> answer[me] = (yes -> YES : NO)
		:: else
		fi
	:: what == RELEASE ->
		serveRelease(id);
		if
		:: heard -> answer[me] = YES
		:: else
		fi
	fi;
	checkStore(what, id, heard)
}

inline checkStore(what, id, heard) {
#ifndef LIVE
	/* nobody touches what is another's and has not run out */
	assert(before == NOBODY || leftBefore == 0 || clientOf(before) == me || (owner == before && left == leftBefore));
	/* a grant that has ended is never revived */
	assert(owner == NOBODY || offered || left == 0 || !ended);
	/* a claim that was given back or withdrawn has left nothing */
	if
	:: heard && what == RELEASE && late[me] == NONE -> returned[id] = 1
	:: else
	fi;
	assert(!returned[owner]);
	k = 0;
	do
	:: k < length -> assert(!returned[queue[k]]); k++
	:: else -> break
	od;
#endif
	k = 0; at = 0; yes = 0; had = 0; before = 0; leftBefore = 0; kept = 0
}

/* ---- the clients' steps ---- */

#define holds(i) ((doing[i] == HOLDING || doing[i] == RENEWING) && valid[i] > 0)

inline checkAlone() {
	k = 0;
	do
	:: k < CLIENTS -> assert(k == me || !holds(k)); k++
	:: else -> break
	od;
	k = 0
}

inline ask() {
#ifdef LIVE
	push[me] = 0;
#endif
	doing[me] = ASKING;
#ifdef LIVE
	poll[me] = 0;
#endif
	sent[me] = LEASE;
	request[me] = CLAIM
}

inline giveBack() {
	doing[me] = RETURNING;
#ifdef LIVE
	poll[me] = 0;
#endif
	sent[me] = 0;
	valid[me] = 0;
	request[me] = RELEASE
}

inline hearGranted() {
#ifdef SEED_DEADLINE_FROM_THE_ANSWER
	sent[me] = LEASE;
#endif
	if
	:: sent[me] > 0 ->
		doing[me] = HOLDING;
		valid[me] = sent[me];
		sent[me] = 0;
		/* no two holds are valid at once */
		checkAlone();
#ifndef LIVE
		/* numbers rise from hold to hold */
		assert(answerNumber[me] > highest);
		highest = answerNumber[me]
#endif
	:: else -> giveBack()
	fi
}

inline hearQueued() {
	doing[me] = WAITING;
	sent[me] = 0
#ifdef LIVE
	;
	missed[me] = missed[me] || (repeated[me] && answer[me] == REQUEUED);
	repeated[me] = 1;
	poll[me] = (missed[me] -> HASTE : POLL)
#endif
}

inline hearRenewed() {
	if
	:: valid[me] == 0 || answer[me] == NO -> giveBack() /* lost */
	:: else ->
		doing[me] = HOLDING;
		if
		:: answer[me] == YES ->
			valid[me] = sent[me];
			checkAlone()
#ifdef LIVE
			;
			renewed[me] = 1
#endif
		:: else
		fi;
		sent[me] = 0
	fi
}

inline finish() {
#ifdef LIVE
	missed[me] = 0;
	repeated[me] = 0;
	renewed[me] = 0;
	turn[me] = 1 - turn[me];
	doing[me] = IDLE
#else
	if
	:: turn[me] + 1 < CLAIMS -> turn[me] = turn[me] + 1; doing[me] = IDLE
	:: else -> doing[me] = DONE
	fi
#endif
}

inline forgetAnswer() {
#ifndef LIVE
	answerNumber[me] = 0;
#endif
	answer[me] = NONE
}

inline hear() {
	if
	:: doing[me] == ASKING && answer[me] == GRANTED -> hearGranted()
	:: doing[me] == ASKING && (answer[me] == QUEUED || answer[me] == REQUEUED) -> hearQueued()
	:: doing[me] == ASKING && answer[me] == BROKEN -> ask()
#ifndef LIVE
	:: doing[me] == ASKING && answer[me] == BROKEN -> giveBack()
#endif
	:: doing[me] == RENEWING -> hearRenewed()
	:: doing[me] == RETURNING && answer[me] == YES -> finish()
	:: doing[me] == RETURNING && answer[me] == BROKEN -> giveBack()
	fi;
	forgetAnswer()
}

inline crash() {
	crashes--;
	doing[me] = DEAD;
	late[me] = request[me];
	lateId[me] = (request[me] == NONE -> NOBODY : idOf(me));
	request[me] = NONE;
	forgetAnswer();
#ifdef LIVE
	push[me] = 0; poll[me] = 0; missed[me] = 0; repeated[me] = 0; renewed[me] = 0;
#endif
	sent[me] = 0;
	valid[me] = 0
}

inline serveLate() {
	serve(late[me], lateId[me], false);
	late[me] = NONE;
	lateId[me] = NOBODY
}

#ifdef LIVE
#define mayAsk(i) (push[i] == idOf(i) || poll[i] == 0)
#define mayRenew(i) (valid[i] < LEASE && !renewed[i])
#define mayEnd(i) (valid[i] < LEASE)
#else
#define mayAsk(i) true
#define mayRenew(i) true
#define mayEnd(i) true
#endif

proctype client(byte me) {
	do
	/* what it does */
	:: atomic { doing[me] == IDLE -> ask() }
	:: atomic { doing[me] == WAITING && mayAsk(me) -> ask() }
	:: atomic { doing[me] == HOLDING && valid[me] > 0 && mayRenew(me) ->
		doing[me] = RENEWING; sent[me] = LEASE; request[me] = RENEW }
	:: atomic { doing[me] == HOLDING && mayEnd(me) -> giveBack() }
#ifndef LIVE
	:: atomic { doing[me] == WAITING -> giveBack() }
#endif
	:: atomic { answer[me] != NONE -> hear() }
	/* what the network does: the request in time, or late, or never */
	:: atomic { request[me] != NONE -> serve(request[me], idOf(me), true); request[me] = NONE }
	:: atomic { late[me] != NONE -> serveLate() }
	:: atomic { late[me] != NONE -> late[me] = NONE; lateId[me] = NOBODY }
#ifdef LIVE
	:: atomic { push[me] != 0 -> push[me] = 0 } /* lost; or heard, but of no use */
#endif
	/* what goes wrong */
	:: atomic { breaks > 0 && request[me] != NONE && late[me] == NONE ->
		breaks--;
#ifndef LIVE
		late[me] = request[me]; lateId[me] = idOf(me);
#endif
		request[me] = NONE; answer[me] = BROKEN }
	:: atomic { breaks > 0 && answer[me] != NONE && answer[me] != BROKEN ->
		breaks--; forgetAnswer(); answer[me] = BROKEN }
	:: atomic { crashes > 0 && late[me] == NONE && doing[me] != IDLE && doing[me] != DONE -> crash(); break }
	:: atomic { doing[me] == DONE && late[me] == NONE -> break }
	od;
	/* dead, or done: what it sent may still come */
end:	do
	:: atomic { late[me] != NONE -> serveLate() }
	:: atomic { late[me] != NONE -> late[me] = NONE; lateId[me] = NOBODY }
	od
}

/* ---- time ---- */

#define busy(i) (doing[i] != DEAD && (doing[i] == IDLE || request[i] != NONE || answer[i] != NONE || push[i] != 0 \
	|| (doing[i] == WAITING && poll[i] == 0) || (doing[i] == HOLDING && valid[i] == 0)))
#if CLIENTS == 2
#define quiet (!busy(0) && !busy(1))
#else
#define quiet (!busy(0) && !busy(1) && !busy(2))
#endif

#define oneLess(time) time = (time > 0 -> time - 1 : 0)

inline tick() {
	k = 0;
	do
	:: k < CLIENTS ->
		/* what a client believes, the store knows, and for at least as long */
		assert(!holds(k) || (owner == idOf(k) && !offered && left >= valid[k]));
		oneLess(valid[k]); oneLess(sent[k]);
#ifdef LIVE
		oneLess(poll[k]);
#endif
		k++
	:: else -> break
	od;
	k = 0;
#ifdef LIVE
	do
	:: k < length -> oneLess(placeLeft[k]); k++
	:: else -> break
	od;
	k = 0;
#else
	if
	:: left == 1 && !offered -> ended = 1
	:: else
	fi;
#endif
	oneLess(left)
}

active proctype clock() {
#ifdef LIVE
	do
	:: atomic { quiet -> tick() }
	:: atomic { !quiet && slow > 0 -> slow--; tick() }
	od
#else
end:	do
	:: atomic { true -> tick() }
	:: atomic { length > 0 -> takeOut(0); k = 0 } /* a place has died */
	:: atomic { length > 1 -> takeOut(1); k = 0 }
	:: atomic { forgets > 0 && counter > 0 -> forgets--; counter = 0 }
	:: atomic { forgets > 0 && micros > 0 -> forgets--; micros = 0 }
	od
#endif
}

init {
	atomic {
		k = 0;
		do
		:: k < CLIENTS -> run client(k); k++
		:: else -> break
		od;
		k = 0
	}
}

#ifdef LIVE
#define wants (doing[0] == ASKING || doing[0] == WAITING)
#define hasOrIsDead (doing[0] == HOLDING || doing[0] == DEAD)
/* A client that waits is served in the end; all clients are alike, so it is enough to look at the first. */
ltl served { [] (wants -> <> hasOrIsDead) }
#endif
