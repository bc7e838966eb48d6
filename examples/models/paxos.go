package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
)

// paxos is a register that can be put once, kept by servers that agree on its
// value by single-decree Paxos (Lamport, Paxos Made Simple). The server at which
// a client puts leads a ballot for it. The network reorders messages, and loses
// none that matters: a message that a server has no use for is never received.
func paxos() catalog.Entry {
	return catalog.Entry{
		Name: "model/paxos",
		Doc:  "Clients put and get a value on which servers agree by single-decree Paxos: the register is linearizable.",
		Params: []catalog.Param{
			{Name: "clients", Doc: "clients, each puts once and gets once", Default: 2, Min: 1, Max: 3},
			{Name: "servers", Doc: "servers", Default: 3, Min: 1, Max: 5},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return paxosModel(v["clients"], v["servers"]).System()
		},
	}
}

// Verbs between the servers.
const (
	prepare  = "prepare"  // leader: close all lower ballots
	promise  = "promise"  // they are closed here, and this is what was accepted in them
	accept   = "accept"   // leader: accept this value
	accepts  = "accepts"  // it is accepted here
	decision = "decision" // leader: this value is decided
)

// vote is a value that was accepted in a ballot; zero if none was.
type vote struct {
	Ballot ballot
	Value  string
}

// paxosServer is the state of a server.
type paxosServer struct {
	// Ballot is the highest ballot it knows of; it takes part in no lower one.
	Ballot ballot
	// Proposal is the value that it wants decided as a leader.
	Proposal string
	// Promises and Accepts are the answers to its ballot, by server.
	Promises map[string]vote
	Accepts  map[string]bool

	// Accepted is its last vote.
	Accepted vote
	Decided  bool
}

func paxosModel(clients, servers int) plain.Model {
	states := plain.NewFamily[paxosServer]("server")
	var start []core.Object
	for i := range servers {
		start = append(start, states.At(i+1).Is(paxosServer{}))
	}
	server := func(i int, name string) plain.Process {
		r := replica{number: i, name: name, servers: servers, state: states.At(i + 1)}
		return plain.Process{Name: name, Receive: inboxOf(name).Receive(r.receive)}
	}
	return registerModel("model/paxos", clients, servers, server, start...)
}

// replica is what a server does.
type replica struct {
	number, servers int
	name            string
	state           plain.Var[paxosServer]
}

func (r replica) receive(w *plain.World, m message) {
	my := r.state.Get(w)
	// Once a value is decided nothing but gets matters, and before there is
	// nothing to get: the server cannot know whether others have decided.
	w.Require(my.Decided == (m.Verb == get))
	switch m.Verb {
	case get:
		inboxOf(m.From).Send(w, message{Verb: got, Value: my.Accepted.Value, From: r.name})
	case put:
		w.Require(my.Proposal == "")
		r.lead(w, &my, m.Value)
	case prepare:
		w.Require(my.Ballot.less(m.Ballot))
		my.Ballot = m.Ballot
		r.reply(w, m, message{Verb: promise, Ballot: m.Ballot, Value: my.Accepted.Value, Accepted: my.Accepted.Ballot})
	case promise:
		w.Require(m.Ballot == my.Ballot)
		r.promised(w, &my, m.From, vote{m.Accepted, m.Value})
	case accept:
		w.Require(!m.Ballot.less(my.Ballot))
		my.Ballot = m.Ballot
		my.Accepted = vote{m.Ballot, m.Value}
		r.reply(w, m, message{Verb: accepts, Ballot: m.Ballot})
	case accepts:
		w.Require(m.Ballot == my.Ballot)
		r.accepted(w, &my, m.From)
	case decision:
		my.Ballot, my.Accepted, my.Decided = m.Ballot, vote{m.Ballot, m.Value}, true
	default:
		panic(fmt.Sprintf("%s cannot %q", r.name, m.Verb))
	}
	r.state.Set(w, my)
}

// lead opens a ballot above all that the server knows of, and promises first.
func (r replica) lead(w *plain.World, my *paxosServer, value string) {
	my.Proposal = value
	my.Ballot = ballot{my.Ballot.Round + 1, r.number + 1}
	r.broadcast(w, message{Verb: prepare, Ballot: my.Ballot})
	my.Promises, my.Accepts = map[string]vote{}, map[string]bool{}
	r.promised(w, my, r.name, my.Accepted)
}

// promised counts a promise. With a majority of them no lower ballot can decide
// any more, so what such a ballot may have decided is known: the latest vote.
// Only if there is none may the leader propose its own value.
func (r replica) promised(w *plain.World, my *paxosServer, from string, last vote) {
	my.Promises[from] = last
	if len(my.Promises) != r.majority() {
		return
	}
	var latest vote
	for _, v := range my.Promises {
		if latest.Ballot.less(v.Ballot) {
			latest = v
		}
	}
	if latest != (vote{}) {
		my.Proposal = latest.Value
	}
	my.Accepted = vote{my.Ballot, my.Proposal}
	r.broadcast(w, message{Verb: accept, Ballot: my.Ballot, Value: my.Proposal})
	r.accepted(w, my, r.name)
}

// accepted counts a vote. A majority of them decides.
func (r replica) accepted(w *plain.World, my *paxosServer, from string) {
	my.Accepts[from] = true
	if len(my.Accepts) != r.majority() {
		return
	}
	my.Decided = true
	r.broadcast(w, message{Verb: decision, Ballot: my.Ballot, Value: my.Proposal})
	inboxOf(whoPuts(my.Proposal)).Send(w, message{Verb: stored, From: r.name})
}

func (r replica) majority() int { return r.servers/2 + 1 }

func (r replica) reply(w *plain.World, to, m message) {
	m.From = r.name
	inboxOf(to.From).Send(w, m)
}

func (r replica) broadcast(w *plain.World, m message) {
	m.From = r.name
	for i := range r.servers {
		if i != r.number {
			inboxOf(serverName(i)).Send(w, m)
		}
	}
}
