package external_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// account is a record of a bank.
type account struct {
	Balance int      `json:"balance"`
	Notes   []string `json:"notes,omitempty"`
}

// transfer moves money.
type transfer struct {
	From, To string
	Amount   int
}

// bank is a service with accounts.
type bank struct {
	*external.Service
	accounts *external.Table[account]
	move     *external.Operation[transfer, account]
	balance  *external.Operation[string, account]
	sum      *external.Operation[struct{}, int]
	interest *external.Event[string]
}

func newBank(lag int) *bank {
	b := &bank{Service: external.New("bank")}
	b.accounts = external.NewTable(b.Service, external.TableConfig[account]{
		Kind: "Account", Lag: lag, Initial: map[string]account{"a": {Balance: 10}, "b": {}},
	})
	b.interest = external.NewEvent(b.Service, "interest", func(t *external.Transaction, name string) {
		of, _ := b.accounts.Get(t, name)
		of.Balance++
		b.accounts.Put(t, name, of)
	})
	b.move = external.NewOperation(b.Service, "transfer", func(t *external.Transaction, asked transfer) (account, error) {
		from, _ := b.accounts.Get(t, asked.From)
		from.Balance -= asked.Amount
		b.accounts.Put(t, asked.From, from) // which is not to last if it is refused
		if from.Balance < 0 {
			return account{}, external.Refuse("Overdrawn", "%s has too little", asked.From)
		}
		to, _ := b.accounts.Get(t, asked.To)
		to.Balance += asked.Amount
		b.accounts.Put(t, asked.To, to)
		b.interest.Later(t, asked.To)
		return to, nil
	})
	b.balance = external.NewQuery(b.Service, "balance", func(t *external.Transaction, name string) (account, error) {
		of, exists := b.accounts.GetStale(t, name)
		if !exists {
			return account{}, external.Refuse("NotFound", "no account %s", name)
		}
		return of, nil
	})
	b.sum = external.NewQuery(b.Service, "sum", func(t *external.Transaction, _ struct{}) (int, error) {
		sum := 0
		for _, of := range b.accounts.AllStale(t) {
			sum += of.Balance
		}
		return sum, nil
	})
	return b
}

func TestOperations(t *testing.T) {
	b := newBank(0)
	s := begin(t, b)
	client, ctx := external.Recorded(s), t.Context()
	if _, err := b.move.Do(ctx, client, transfer{"a", "b", 20}); external.CodeOf(err) != "Overdrawn" || err.Error() != "Overdrawn: a has too little" {
		t.Errorf("got %v", err)
	}
	if sum, err := b.sum.Do(ctx, client, struct{}{}); sum != 10 || err != nil {
		t.Errorf("what was refused has taken place: the sum is %d, %v", sum, err)
	}
	if to, err := b.move.Do(ctx, client, transfer{"a", "b", 4}); to.Balance != 4 || err != nil {
		t.Errorf("got %+v, %v", to, err)
	}
	if of, _ := b.balance.Do(ctx, client, "a"); of.Balance != 6 {
		t.Errorf("a has %d", of.Balance)
	}
	if !s.happen("interest: b") || s.happen("interest") {
		t.Error("the event is to happen once")
	}
	if of, _ := b.balance.Do(ctx, client, "b"); of.Balance != 5 {
		t.Errorf("b has %d", of.Balance)
	}
	if _, err := b.balance.Do(ctx, client, "c"); external.CodeOf(err) != "NotFound" {
		t.Errorf("got %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.balance.Do(over, client, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for name, of := range b.accounts.In(s) {
		if want := map[string]int{"a": 6, "b": 5}[name]; of.Balance != want {
			t.Errorf("%s has %d, want %d", name, of.Balance, want)
		}
	}
}

// TestWriteOfWhatIsThere checks that it is no write: it would wake and distinguish what is the same.
func TestWriteOfWhatIsThere(t *testing.T) {
	b := newBank(1)
	s := begin(t, b)
	if _, err := b.move.Do(t.Context(), external.Recorded(s), transfer{"a", "b", 0}); err != nil {
		t.Fatal(err)
	}
	if len(s.objects) != 2 || len(s.items) != 1 {
		t.Errorf("there are %d objects, and %v is to happen", len(s.objects), s.items)
	}
}

// TestLag follows reads that lag behind by two changes: they show each version in turn, as long as there are no more
// than two to come.
func TestLag(t *testing.T) {
	b := newBank(2)
	s := begin(t, b)
	client := external.Recorded(s)
	shown := func(want int) {
		t.Helper()
		if of, err := b.balance.Do(t.Context(), client, "a"); of.Balance != want || err != nil {
			t.Errorf("a is shown with %d, %v; want %d", of.Balance, err, want)
		}
	}
	pay := func() {
		t.Helper()
		if _, err := b.move.Do(t.Context(), client, transfer{"a", "other", 1}); err != nil {
			t.Fatal(err)
		}
	}
	const next = "reads show the next version: Account.bank a"
	shown(10)
	pay()
	shown(10)
	if _, err := b.balance.Do(t.Context(), client, "other"); external.CodeOf(err) != "NotFound" {
		t.Errorf("a new account is shown at once: %v", err)
	}
	if sum, _ := b.sum.Do(t.Context(), client, struct{}{}); sum != 10 {
		t.Errorf("lists do not lag behind: the sum is %d", sum)
	}
	pay()
	shown(10)
	pay() // now 7, which is three changes on
	shown(9)
	if !s.happen(next) {
		t.Fatal("nothing makes reads go on")
	}
	shown(8)
	if !s.happen(next) {
		t.Fatal("nothing makes reads go on")
	}
	shown(7)
	for s.happen("reads show") {
	}
	if len(s.objects) != 3 {
		t.Errorf("where nothing lags behind there are only the records: %v", s.objects)
	}
}

// TestDeletedIsShown checks that what is gone is still shown, and then not.
func TestDeletedIsShown(t *testing.T) {
	s := external.New("shop")
	table := external.NewTable(s, external.TableConfig[int]{Kind: "Order", Lag: 1, Initial: map[string]int{"x": 1}})
	drop := external.NewOperation(s, "drop", func(t *external.Transaction, name string) (struct{}, error) {
		table.Delete(t, name)
		return struct{}{}, nil
	})
	count := external.NewQuery(s, "count", func(t *external.Transaction, _ struct{}) ([2]int, error) {
		var n [2]int
		for range table.AllStale(t) {
			n[0]++
		}
		for range table.All(t) {
			n[1]++
		}
		return n, nil
	})
	at := begin(t, s)
	client := external.Recorded(at)
	if _, err := drop.Do(t.Context(), client, "x"); err != nil {
		t.Fatal(err)
	}
	if n, err := count.Do(t.Context(), client, struct{}{}); n != [2]int{1, 0} || err != nil {
		t.Errorf("shown and there are %v, %v", n, err)
	}
	at.happen("reads show")
	if n, err := count.Do(t.Context(), client, struct{}{}); n != [2]int{0, 0} || err != nil {
		t.Errorf("shown and there are %v, %v", n, err)
	}
	if len(at.objects) != 0 {
		t.Errorf("there is something left: %v", at.objects)
	}
}

func TestFaults(t *testing.T) {
	b := newBank(0)
	b.Failures(&external.Refusal{Code: "Busy", Message: "try again"})
	asked := &asking{}
	_, _ = b.balance.Do(t.Context(), external.Recorded(asked), "a")
	_, _ = b.move.Do(t.Context(), external.Recorded(asked), transfer{})
	for i, want := range [][]string{{"timeout", "Busy: try again"}, {"timeout", "Busy: try again", "committed, but the answer is lost"}} {
		var names []string
		for _, fault := range b.Store().Faults(asked.calls[i]) {
			names = append(names, fault.Name)
			asked.answer = fault.Response
			_, err := b.balance.Do(t.Context(), external.Recorded(asked), "a")
			var network net.Error
			if isLate := fault.Name[0] != 'B'; !errors.As(err, &network) || network.Timeout() != isLate || errors.Is(err, context.DeadlineExceeded) != isLate {
				t.Errorf("%s: got %v", fault.Name, err)
			}
			if fault.Commits != (fault.Name == "committed, but the answer is lost") {
				t.Errorf("%s: commits %t", fault.Name, fault.Commits)
			}
		}
		if strings.Join(names, ";") != strings.Join(want, ";") {
			t.Errorf("%s fails by %q, want %q", asked.calls[i], names, want)
		}
	}
}

// asking notes calls, and gives one answer to all.
type asking struct {
	calls  []core.Call
	answer core.Response
}

func (a *asking) Do(call core.Call) core.Response {
	a.calls = append(a.calls, call)
	return a.answer
}

// TestMistakesInFunctions checks that a function which is no step of a world ends the check.
// unlucky is a number that [ofLucky] does not know.
const unlucky = 13

func ofLucky(n int) any {
	if n == unlucky {
		panic("no such number")
	}
	return n
}

func TestMistakesInFunctions(t *testing.T) {
	other := newBank(0)
	n := 0
	for want, do := range map[string]func(*external.Service, *external.Table[int]) *external.Operation[string, int]{
		"gives two answers": func(s *external.Service, _ *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(*external.Transaction, string) (int, error) { n++; return n, nil })
		},
		"does not write the same": func(s *external.Service, table *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(t *external.Transaction, name string) (int, error) {
				n++
				table.Put(t, name, n)
				return 0, nil
			})
		},
		"it changes Number.service a, and is a query": func(s *external.Service, table *external.Table[int]) *external.Operation[string, int] {
			return external.NewQuery(s, "do", func(t *external.Transaction, name string) (int, error) {
				table.Put(t, name, 1)
				return 0, nil
			})
		},
		"of bank: a step changes one service only": func(s *external.Service, _ *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(t *external.Transaction, name string) (int, error) {
				other.accounts.Delete(t, name)
				return 0, nil
			})
		},
		"without a name": func(s *external.Service, table *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(t *external.Transaction, _ string) (int, error) {
				table.Put(t, "", 1)
				return 0, nil
			})
		},
		"it writes Number.service a, of which TableConfig.Outcome cannot be had: it panicked: no such number (at github.com/orrery-dev/orrery/adapters/external_test.": func(s *external.Service, table *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(t *external.Transaction, name string) (int, error) {
				table.Put(t, name, unlucky)
				return 0, nil
			})
		},
		"it is wrong": func(s *external.Service, _ *external.Table[int]) *external.Operation[string, int] {
			return external.NewOperation(s, "do", func(t *external.Transaction, _ string) (int, error) {
				t.Mistake("it is %s", "wrong")
				return 0, nil
			})
		},
	} {
		s := external.New("service")
		operation := do(s, external.NewTable(s, external.TableConfig[int]{Kind: "Number", Outcome: ofLucky}))
		asked := &asking{}
		_, _ = operation.Do(t.Context(), external.Recorded(asked), "a")
		if _, err := s.Store().Answer(begin(t, s), asked.calls[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestMistakesInDefinitions(t *testing.T) {
	nothing := func(*external.Transaction, string) (string, error) { return "", nil }
	for want, define := range map[string]func(*external.Service){
		"has no operations": func(*external.Service) {},
		`two operations are called "do"`: func(s *external.Service) {
			external.NewQuery(s, "do", nothing)
		},
		`the operation "what" does nothing`: func(s *external.Service) {
			external.NewQuery[string, string](s, "what", nil)
		},
		`an operation is called ""`: func(s *external.Service) { external.NewQuery(s, "", nothing) },
		"is what the service does by itself": func(s *external.Service) {
			external.NewQuery(s, "reads show the next version", nothing)
		},
		`the event "come" does nothing`: func(s *external.Service) { external.NewEvent[string](s, "come", nil) },
		`the event "a: b" has ": "`: func(s *external.Service) {
			external.NewEvent(s, "a: b", func(*external.Transaction, string) {})
		},
		"a table has the kind \"\"": func(s *external.Service) { external.NewTable(s, external.TableConfig[int]{}) },
		"two tables have the kind": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[int]{Kind: "A"})
			external.NewTable(s, external.TableConfig[int]{Kind: "A"})
		},
		"cannot lag behind by -1 changes": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[int]{Kind: "A", Lag: -1})
		},
		"an initial record has no name": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[int]{Kind: "A", Initial: map[string]int{"": 1}})
		},
		`TableConfig.Outcome of the initial record "a": it panicked: no such number (at`: func(s *external.Service) {
			external.NewTable(s, external.TableConfig[int]{Kind: "A", Initial: map[string]int{"a": unlucky}, Outcome: ofLucky})
		},
		"it panicked: what it returns is not of a kind that can be kept": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[int]{Kind: "A", Initial: map[string]int{"a": 1}, Outcome: func(int) any { return func() {} }})
		},
		"is not exported": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[struct{ hidden int }]{Kind: "A"})
		},
		"is left out by its tag": func(s *external.Service) {
			external.NewTable(s, external.TableConfig[struct {
				A int `json:"-"`
			}]{Kind: "A"})
		},
		"is an interface":            func(s *external.Service) { external.NewTable(s, external.TableConfig[map[string]any]{Kind: "A"}) },
		"is a func":                  func(s *external.Service) { external.NewTable(s, external.TableConfig[[]func()]{Kind: "A"}) },
		`the action "go" does nothi`: func(s *external.Service) { s.Action("go", nil) },
		"a failure is nil":           func(s *external.Service) { s.Failures(nil) },
	} {
		s := external.New("service")
		if want != "has no operations" {
			external.NewQuery(s, "do", nothing)
		}
		define(s)
		if _, err := external.Compose(strange{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	good := newBank(0)
	for want, parts := range map[string][]external.Part{
		"number 1 of the world is nil":          {nil},
		`two parts of the world are called "ba`: {good, newBank(1)},
		`called "two words": give it a name of`: {external.New("two words")},
	} {
		if _, err := external.Compose(strange{}, parts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestClientsOutsideOfChecks(t *testing.T) {
	for _, config := range []*rest.Config{nil, {}, {Host: "https://example.com"}} {
		if _, err := external.NewClient(config); err == nil {
			t.Errorf("%v is taken for the configuration of a check", config)
		}
	}
	if _, err := newBank(0).balance.Do(t.Context(), nil, "a"); err == nil || !strings.Contains(err.Error(), "make it with NewClient") {
		t.Errorf("got %v", err)
	}
}

// TestCallsToNobody checks that a call to what is not part of the system is not modelled, and says how to add it.
func TestCallsToNobody(t *testing.T) {
	asked := &asking{}
	_, _ = newBank(0).balance.Do(t.Context(), external.Recorded(asked), "a")
	other := external.New("shop")
	external.NewQuery(other, "do", func(*external.Transaction, string) (string, error) { return "", nil })
	s := begin(t, other)
	_, err := s.store.Answer(s, asked.calls[0])
	var unsupported *core.Unsupported
	if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "bank is not part of the system: add it with the option External") {
		t.Errorf("got %v", err)
	}
	if faults := s.store.Faults(asked.calls[0]); faults != nil {
		t.Errorf("it fails by %v", faults)
	}
}
