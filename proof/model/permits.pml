/*
 * The queue of a semaphore in a store that pushes: claims that do not fit. One client wants all permits, the others one
 * each; all claim again and again. Run by `./dev model`.
 *
 * `queue.pml` has requests and answers that are lost, late or doubled, for a lock that one holds at a time. Here a
 * request and its answer are one step, so that what is checked is the rule of the queue alone, as the functions `settle`,
 * `lives` and `stay` of the Redis scripts have it:
 *
 *   The first in the queue that fits is offered its permits, and then the next, as long as they fit. One that does not
 *   fit keeps out those behind it while it is alive, which is until the deadline of its place. When one is found dead,
 *   the next that does not fit is notified to poll, and has as long as an offer lasts. A waiter that lost its place and polls
 *   again comes back to it; it has missed an offer, and from then on it polls more often than an offer lasts.
 *
 * A push may be lost, which is known to nobody. A client crashes (CRASHES times) at any point while it waits or holds.
 *
 * Safety: no more permits are out than there are. Liveness (compiled with -DLIVE): a client that waits is served in the
 * end, the one that wants all permits (LOOK 0) as well as the others (LOOK 1). With KEEPS, the last client holds one
 * permit for ever; then the one that wants all of them waits for ever, and keeps out those behind it, until it dies.
 *
 * Left out: that waiters of higher ranks poll less often, offers that nobody hears though their client is alive, claims
 * that are given up.
 */

#define CLIENTS 3
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LOOK
#define LOOK 0
#endif

#define PERMITS 2
#define wants(i) ((i) == 0 -> PERMITS : 1)

#define LEASE 3     /* ticks */
#define PLACE 3
#define OFFER 2
#define POLL 2      /* as long as an offer stands, so that one may fall between two */
#ifdef SEED_SLOW_AFTER_A_MISS
#define HASTE POLL
#else
#define HASTE 1
#endif
#define NOBODY CLIENTS

#ifdef KEEPS
#define keeps(i) ((i) == CLIENTS - 1)
#else
#define keeps(i) false
#endif

#define IDLE 0
#define WAITING 1
#define HOLDING 2
#define DEAD 3

/* ---- the store ---- */

byte left[CLIENTS];     /* of a grant or an offer, in ticks */
byte line[CLIENTS];     /* the clients that wait, in the order they came */
byte length;
bit present[CLIENTS];   /* has its place in the queue */
byte place[CLIENTS];    /* until its deadline */
byte out;               /* permits held or offered */

/* ---- the clients ---- */

byte doing[CLIENTS];
byte poll[CLIENTS];
bit missed[CLIENTS];    /* an offer, in this wait */
bit push[CLIENTS];
bit ripe[CLIENTS];      /* has held for a tick */
byte crashes = CRASHES;

/* scratch, used within one step only */
hidden byte k;
hidden byte head;
hidden byte at;
hidden byte mine;
hidden byte dead;

/* ---- the store's scripts ---- */

inline takeOutOfLine(who) {
	at = 0;
	do
	:: at < length && line[at] != who -> at++
	:: else -> break
	od;
	if
	:: at < length ->
		do
		:: at + 1 < length -> line[at] = line[at + 1]; at++
		:: else -> break
		od;
		length--;
		line[length] = 0
	:: else
	fi;
	at = 0
}

/* Nobody hears for a client that is dead: it never comes back to its place. */
inline drop(who) {
	present[who] = 0;
	place[who] = 0;
	if
	:: doing[who] == DEAD -> takeOutOfLine(who)
	:: else
	fi
}

inline findHead() {
	k = 0;
	do
	:: k < length && !present[line[k]] -> k++
	:: else -> break
	od;
	if
	:: k < length -> head = line[k]
	:: else -> head = NOBODY
	fi;
	k = 0
}

inline take(who) {
	out = out + wants(who);
	/* no more permits are out than there are */
	assert(out <= PERMITS)
}

#ifdef SEED_COUNT_WITHOUT_THE_NEXT
#define fits(i) (out < PERMITS)
#else
#define fits(i) (out + wants(i) <= PERMITS)
#endif

#ifdef SEED_DEAD_MISFIT_STAYS
#define isAlive(i) true
#else
#define isAlive(i) (place[i] > 0)
#endif

/* The first has become that since the one before it was found dead: it is notified to poll. */
inline notifyToPoll() {
	if
	:: doing[head] == DEAD -> place[head] = 0
	:: else ->
		place[head] = (place[head] > OFFER -> OFFER : place[head]);
		push[head] = 1
	fi
}

/* mine: whether the one that asks is the first, and fits */
inline settle(asking) {
	mine = 0;
	dead = 0;
	do
	:: true ->
		findHead();
		if
		:: head == NOBODY -> break
		:: else
		fi;
		if
		:: !fits(head) && head != asking && dead -> notifyToPoll()
		:: else
		fi;
		if
		:: !fits(head) && (head == asking || isAlive(head)) -> break
		:: else
		fi;
		drop(head);
		if
		:: fits(head) && head == asking -> mine = 1; break
		:: fits(head) && head != asking && doing[head] != DEAD ->
			take(head);
			left[head] = OFFER;
			push[head] = 1
		:: fits(head) && doing[head] == DEAD
		:: !fits(head) -> dead = 1
		fi
	od;
	head = 0;
	dead = 0
}

inline grant() {
	if
	:: left[me] == 0 -> take(me)
	:: else /* it was offered */
	fi;
	left[me] = LEASE;
	takeOutOfLine(me);
	present[me] = 0;
	place[me] = 0;
	doing[me] = HOLDING;
	poll[me] = 0;
	missed[me] = 0;
	push[me] = 0
}

/* A waiter that polls removes those that are past their deadlines. */
inline dropTheDead() {
#ifndef SEED_DEAD_MISFIT_STAYS
	k = 0;
	do
	:: k < CLIENTS ->
		if
		:: k != me && present[k] && place[k] == 0 -> drop(k)
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0
#else
	skip
#endif
}

inline stay() {
	if
	:: doing[me] == WAITING ->
		dropTheDead();
		missed[me] = missed[me] || !present[me]
	:: else ->
		line[length] = me;
		length++
	fi;
	present[me] = 1;
	place[me] = PLACE;
	doing[me] = WAITING;
	poll[me] = (missed[me] -> HASTE : POLL);
	push[me] = 0
}

inline claim() {
	if
	:: left[me] > 0 -> grant()
	:: else ->
		settle(me);
		findHead();
		if
#ifdef SEED_MISFIT_IS_OVERTAKEN
		:: mine || fits(me) -> grant(); settle(NOBODY)
#else
		:: mine || (head == NOBODY && fits(me)) -> grant(); settle(NOBODY)
#endif
		:: else -> stay()
		fi
	fi;
	head = 0;
	mine = 0
}

inline release() {
	if
	:: left[me] > 0 -> left[me] = 0; out = out - wants(me)
	:: else
	fi;
	doing[me] = IDLE;
	ripe[me] = 0;
	settle(NOBODY);
	mine = 0
}

/* ---- the clients' steps ---- */

proctype client(byte me) {
	do
	:: atomic { doing[me] == IDLE -> claim() }
	:: atomic { doing[me] == WAITING && (push[me] || poll[me] == 0) -> claim() }
	:: atomic { doing[me] == WAITING && push[me] -> push[me] = 0 } /* lost */
	:: atomic { doing[me] == HOLDING && ripe[me] -> release() }
	:: atomic { crashes > 0 && (doing[me] == WAITING || doing[me] == HOLDING) ->
		crashes--; doing[me] = DEAD; push[me] = 0; poll[me] = 0; missed[me] = 0; ripe[me] = 0; break }
	od
}

/* ---- time: it passes when nothing else can happen ---- */

#define busy(i) (doing[i] == IDLE || push[i] || (doing[i] == WAITING && poll[i] == 0) || (doing[i] == HOLDING && ripe[i]))
#define quiet (!busy(0) && !busy(1) && !busy(2))
#define oneLess(time) time = (time > 0 -> time - 1 : 0)

inline tick() {
	k = 0;
	do
	:: k < CLIENTS ->
		if
		:: doing[k] == HOLDING && keeps(k) /* it renews */
		:: else ->
			if
			:: left[k] == 1 -> out = out - wants(k)
			:: else
			fi;
			oneLess(left[k]);
			ripe[k] = (doing[k] == HOLDING)
		fi;
		oneLess(place[k]);
		oneLess(poll[k]);
		k++
	:: else -> break
	od;
	k = 0
}

active proctype clock() {
	do
	:: atomic { quiet -> tick() }
	od
}

init {
	atomic { run client(0); run client(1); run client(2) }
}

#ifdef LIVE
#ifdef KEEPS
/* Only the death of the one that wants all can help those behind it. */
#define mayWait(i) (doing[i] == WAITING && doing[0] == DEAD)
#else
#define mayWait(i) (doing[i] == WAITING)
#endif
#define hasOrIsDead(i) (doing[i] == HOLDING || doing[i] == DEAD)
ltl served { [] (mayWait(LOOK) -> <> hasOrIsDead(LOOK)) }
#endif
