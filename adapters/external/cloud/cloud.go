// Package cloud is a cloud with instances, for controllers that create, look up and delete what costs money.
//
// A [Cloud] is a [external.Service]: hand it to an adapter with the option External, and make a [Client] of it in the
// set-up. Instances are objects of the kind [Kind], which properties can look at; [Cloud.Instances] returns those of a
// state.
//
//   - The cloud chooses ids at random, as far as clients can tell, and never gives one out twice.
//   - A new instance is pending, and runs some time later, or fails ([ProvisioningFailures]). A deleted one is terminated: it can still be looked up, and costs
//     nothing.
//   - A create with a token that was used before returns the instance of then, in whatever state it is; one that asks for something else is refused.
//   - What [Client.Get] and [Client.List] answer may lag behind ([Lag]): a new instance is not found, and one that is terminated is shown as running.
//   - Where a check lets calls fail, each may take too long, before or after it has taken place, or be throttled.
//
// Tokens do not expire, there are no quotas, and lists are not paged.
package cloud

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/core"
)

// Name is what reports call a cloud, unless it has another name ([Named]).
const Name = "cloud"

// Kind is the kind of instances.
const Kind = "Instance"

// State is where an instance is in its life.
type State string

// The states of an instance.
const (
	Pending    State = "pending"
	Running    State = "running"
	Failed     State = "failed"
	Terminated State = "terminated"
)

// Instance is a machine.
type Instance struct {
	// ID is chosen by the cloud.
	ID string `json:"id"`
	// Name and Tags are what the request has. Several instances may have the same.
	Name  string            `json:"name,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	State State             `json:"state"`
}

// Request asks for an instance.
type Request struct {
	Name string            `json:"name,omitempty"`
	Tags map[string]string `json:"tags,omitempty"`
	// Token, if not empty, makes the request idempotent.
	Token string `json:"token,omitempty"`
}

// String says the instance in a few words.
func (i Instance) String() string { return i.ID + " (" + string(i.State) + ")" }

// String says the request in a few words.
func (r Request) String() string {
	text := "create instance " + r.Name + tags(r.Tags).suffix()
	if r.Token != "" {
		text += ", token " + r.Token
	}
	return text
}

// tags are what an instance has to have to be listed.
type tags map[string]string

// String says the list that is asked for.
func (t tags) String() string { return "list instances" + t.suffix() }

func (t tags) suffix() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		all = append(all, name+"="+t[name])
	}
	if len(all) == 0 {
		return ""
	}
	return " with " + strings.Join(all, ",")
}

// listing is what a list answers.
type listing []Instance

// String says the list in a few words.
func (l listing) String() string {
	if len(l) == 0 {
		return "no instances"
	}
	all := make([]string, len(l))
	for i, instance := range l {
		all[i] = instance.String()
	}
	return strings.Join(all, ", ")
}

// The codes of refusals, see [external.CodeOf].
const (
	// NotFound is the code where there is no instance of an id, or it is not shown yet.
	NotFound = "InstanceNotFound"
	// TokenReused is the code where a token was used for another request.
	TokenReused = "IdempotentParameterMismatch"
	// Throttled is the code of a call that the cloud had no time for.
	Throttled = "RequestLimitExceeded"
)

// Cloud is a cloud with instances.
type Cloud struct {
	*external.Service
	instances *external.Table[Instance]
	tokens    *external.Table[use]
	failed    *external.Table[int]
	failures  int

	create    *external.Operation[Request, Instance]
	get       *external.Operation[string, Instance]
	list      *external.Operation[tags, listing]
	terminate *external.Operation[string, struct{}]
	loses     *external.Operation[string, struct{}]
	starts    *external.Event[string]
	fails     *external.Event[string]
}

// use is a request that was made with a token, and its instance.
type use struct {
	Request Request `json:"request"`
	ID      string  `json:"id"`
}

// Option is a choice that a [Cloud] is made with.
type Option func(*settings)

type settings struct {
	name      string
	lag       int
	failures  int
	instances []Instance
	lost      []string
}

// Named gives the cloud a name of letters, digits and dashes: for systems with several.
func Named(name string) Option { return func(s *settings) { s.name = name } }

// Lag makes what [Client.Get] and [Client.List] answer lag up to so many changes behind, for each instance.
func Lag(changes int) Option { return func(s *settings) { s.lag = changes } }

// ProvisioningFailures lets up to so many instances fail in place of running, in a run.
func ProvisioningFailures(most int) Option { return func(s *settings) { s.failures = most } }

// Instances are there at the start. They need an ID; without a State they run.
func Instances(instances ...Instance) Option {
	return func(s *settings) { s.instances = append(s.instances, instances...) }
}

// Loses lets the cloud terminate an instance of the name by itself, at any moment or never: the pending or running one
// of the least id. Each call of the option is for once.
func Loses(name string) Option { return func(s *settings) { s.lost = append(s.lost, name) } }

// New returns a cloud.
func New(options ...Option) *Cloud {
	chosen := settings{name: Name}
	for _, option := range options {
		option(&chosen)
	}
	s := external.New(chosen.name)
	initial := map[string]Instance{}
	for _, instance := range chosen.instances {
		if _, twice := initial[instance.ID]; twice {
			s.Mistake("two instances have the id %q at the start: give each its own", instance.ID)
		}
		instance.State = cmp.Or(instance.State, Running)
		initial[instance.ID] = instance
	}
	if chosen.failures < 0 {
		s.Mistake("%d instances cannot fail: use 0 or more", chosen.failures)
	}
	c := &Cloud{
		Service: s,
		instances: external.NewTable(s, external.TableConfig[Instance]{
			Kind: Kind, Lag: chosen.lag, Chosen: true, Initial: initial,
			Outcome: func(i Instance) any {
				if i.State == Terminated {
					return nil
				}
				return i
			},
		}),
		tokens: external.NewTable(s, external.TableConfig[use]{Kind: "Token", Outcome: func(use) any { return nil }}),
		failed: external.NewTable(s, external.TableConfig[int]{Kind: "Failures", Outcome: func(int) any { return nil }}),

		failures: chosen.failures,
	}
	s.Failures(&external.Refusal{Code: Throttled, Message: "request limit exceeded"})
	c.create = external.NewOperation(s, "create instance", c.created)
	c.get = external.NewQuery(s, "get instance", c.got)
	c.list = external.NewQuery(s, "list instances", c.listed)
	c.terminate = external.NewOperation(s, "terminate instance", c.terminated)
	c.starts = external.NewEvent(s, "the instance runs", c.started)
	c.fails = external.NewEvent(s, "the instance fails", c.broken)
	c.loses = external.NewOperation(s, "lose instance", c.lost)
	times := map[string]int{}
	for _, name := range chosen.lost {
		action := "loses instance " + name
		if times[name]++; times[name] > 1 {
			action = fmt.Sprintf("%s (%d)", action, times[name])
		}
		s.Action(action, func(ctx context.Context, asked *external.Client) error {
			_, err := c.loses.Do(ctx, asked, name)
			return err
		})
	}
	return c
}

// Kind returns the kind of the instances, as properties select it: "Instance.cloud".
func (c *Cloud) Kind() core.Kind { return c.instances.Kind() }

// Instances returns the instances of a state that are not terminated, in the order of their ids: as they are, not as
// the cloud may still show them.
func (c *Cloud) Instances(state core.Snapshot) []Instance {
	var all []Instance
	for _, instance := range c.instances.In(state) {
		if instance.State != Terminated {
			all = append(all, instance)
		}
	}
	return all
}

// created is what a create does.
func (c *Cloud) created(t *external.Transaction, request Request) (Instance, error) {
	if request.Token != "" {
		if before, used := c.tokens.Get(t, request.Token); used {
			if before.Request.Name != request.Name || !maps.Equal(before.Request.Tags, request.Tags) {
				return Instance{}, external.Refuse(TokenReused, "the token %s was used with another request", request.Token)
			}
			instance, _ := c.instances.Get(t, before.ID)
			return instance, nil
		}
	}
	instance := Instance{ID: c.unused(t, request), Name: request.Name, Tags: request.Tags, State: Pending}
	c.instances.Put(t, instance.ID, instance)
	if request.Token != "" {
		c.tokens.Put(t, request.Token, use{Request: request, ID: instance.ID})
	}
	c.starts.Later(t, instance.ID)
	if c.mayFail(t) {
		c.fails.Later(t, instance.ID)
	}
	return instance, nil
}

// unused returns an id that was never given out. It is a function of the request and of how many equal ones there were,
// so that requests that differ have nothing to do with each other.
func (c *Cloud) unused(t *external.Transaction, request Request) string {
	text, err := json.Marshal(request)
	if err != nil {
		panic("cloud: a request cannot be written as JSON: " + err.Error())
	}
	for number := 1; ; number++ {
		const length = 4
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", number, text))
		id := "i-" + hex.EncodeToString(sum[:length])
		if _, taken := c.instances.Get(t, id); !taken {
			return id
		}
	}
}

// got is what a get answers.
func (c *Cloud) got(t *external.Transaction, id string) (Instance, error) {
	instance, exists := c.instances.GetStale(t, id)
	if !exists {
		return Instance{}, external.Refuse(NotFound, "there is no instance %s", id)
	}
	return instance, nil
}

// listed is what a list answers: instances that are not terminated, with all of the tags.
func (c *Cloud) listed(t *external.Transaction, wanted tags) (listing, error) {
	found := listing{}
	for _, instance := range c.instances.AllStale(t) {
		if instance.State != Terminated && hasTags(instance, wanted) {
			found = append(found, instance)
		}
	}
	return found, nil
}

func hasTags(instance Instance, wanted tags) bool {
	for name, value := range wanted {
		if has, ok := instance.Tags[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// terminated is what a delete does.
func (c *Cloud) terminated(t *external.Transaction, id string) (struct{}, error) {
	instance, exists := c.instances.Get(t, id)
	if !exists {
		return struct{}{}, external.Refuse(NotFound, "there is no instance %s", id)
	}
	instance.State = Terminated
	c.instances.Put(t, id, instance)
	return struct{}{}, nil
}

// started makes a pending instance run.
func (c *Cloud) started(t *external.Transaction, id string) {
	if instance, _ := c.instances.Get(t, id); instance.State == Pending {
		instance.State = Running
		c.instances.Put(t, id, instance)
	}
}

// theBudget is the record that counts instances that have failed.
const theBudget = "instances"

// mayFail reports whether another instance may fail.
func (c *Cloud) mayFail(t *external.Transaction) bool {
	if c.failures == 0 {
		return false
	}
	already, _ := c.failed.Get(t, theBudget)
	return already < c.failures
}

// broken makes a pending instance fail.
func (c *Cloud) broken(t *external.Transaction, id string) {
	if instance, _ := c.instances.Get(t, id); instance.State == Pending && c.mayFail(t) {
		instance.State = Failed
		c.instances.Put(t, id, instance)
		already, _ := c.failed.Get(t, theBudget)
		c.failed.Put(t, theBudget, already+1)
	}
}

// lost terminates an instance of a name.
func (c *Cloud) lost(t *external.Transaction, name string) (struct{}, error) {
	for id, instance := range c.instances.All(t) {
		if instance.Name == name && (instance.State == Pending || instance.State == Running) {
			instance.State = Terminated
			c.instances.Put(t, id, instance)
			return struct{}{}, nil
		}
	}
	return struct{}{}, external.Refuse(NotFound, "there is no instance called %s", name)
}

// Client is what controllers ask the cloud with. Errors are of type [*external.Refusal], with the codes of this package
// and [external.TimedOut].
type Client struct {
	cloud  *Cloud
	client *external.Client
}

// Client returns a client for a set-up, from mgr.GetConfig() or env.Config(). See [external.NewClient].
func (c *Cloud) Client(config *rest.Config) (*Client, error) {
	client, err := external.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return &Client{c, client}, nil
}

// Recorded returns a client whose calls go to a recorder, see [external.Recorded].
func (c *Cloud) Recorded(recorder core.EffectRecorder) *Client {
	return &Client{c, external.Recorded(recorder)}
}

// Create creates an instance, and returns it as it is then: pending, unless the token was used before.
func (c *Client) Create(ctx context.Context, request Request) (Instance, error) {
	return c.cloud.create.Do(ctx, c.client, request)
}

// Get returns an instance, also a terminated one. It may lag behind.
func (c *Client) Get(ctx context.Context, id string) (Instance, error) {
	return c.cloud.get.Do(ctx, c.client, id)
}

// List returns the instances with all of the tags that are not terminated, in the order of their ids. It may lag
// behind, for each instance by itself.
func (c *Client) List(ctx context.Context, tags map[string]string) ([]Instance, error) {
	return c.cloud.list.Do(ctx, c.client, tags)
}

// Delete terminates an instance. To terminate one twice is no error.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.cloud.terminate.Do(ctx, c.client, id)
	return err
}
