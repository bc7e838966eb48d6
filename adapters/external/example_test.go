package external_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external"
	"github.com/orrery-dev/orrery/properties"
)

// Seat is a seat of a licence.
type Seat struct {
	User string `json:"user"`
}

// Licences is a service that hands out seats.
type Licences struct {
	*external.Service
	seats   *external.Table[Seat]
	take    *external.Operation[string, string]
	holding *external.Operation[string, string]
}

// NewLicences returns a service with so many seats.
func NewLicences(seats int) *Licences {
	l := &Licences{Service: external.New("licences")}
	l.seats = external.NewTable(l.Service, external.TableConfig[Seat]{Kind: "Seat"})
	l.take = external.NewOperation(l.Service, "take a seat for", func(t *external.Transaction, user string) (string, error) {
		for number := range seats {
			name := fmt.Sprintf("seat-%d", number+1)
			if _, taken := l.seats.Get(t, name); !taken {
				l.seats.Put(t, name, Seat{User: user})
				return name, nil
			}
		}
		return "", external.Refuse("NoSeats", "all %d seats are taken", seats)
	})
	l.holding = external.NewQuery(l.Service, "which seat has", func(t *external.Transaction, user string) (string, error) {
		for name, seat := range l.seats.All(t) {
			if seat.User == user {
				return name, nil
			}
		}
		return "", external.Refuse("NoSeat", "%s has no seat", user)
	})
	return l
}

// LicenceClient is what controllers ask the service with.
type LicenceClient struct {
	licences *Licences
	client   *external.Client
}

// Client returns a client for a set-up.
func (l *Licences) Client(config *rest.Config) (*LicenceClient, error) {
	client, err := external.NewClient(config)
	return &LicenceClient{l, client}, err
}

// Take takes a seat, and returns its name.
func (c *LicenceClient) Take(ctx context.Context, user string) (string, error) {
	return c.licences.take.Do(ctx, c.client, user)
}

// Holding returns the seat of a user, empty if there is none.
func (c *LicenceClient) Holding(ctx context.Context, user string) (string, error) {
	seat, err := c.licences.holding.Do(ctx, c.client, user)
	if external.CodeOf(err) == "NoSeat" {
		return "", nil
	}
	return seat, err
}

// Licensor takes a seat for each ConfigMap, and labels it.
type Licensor struct {
	client.Client
	Licences *LicenceClient
	// Looks makes it ask whether there is a seat already.
	Looks bool
}

// Reconcile takes the seat of a ConfigMap.
func (l *Licensor) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := l.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if config.Labels["seat"] != "" {
		return ctrl.Result{}, nil
	}
	var seat string
	var err error
	if l.Looks {
		seat, err = l.Licences.Holding(ctx, config.Name)
	}
	if err == nil && seat == "" {
		seat, err = l.Licences.Take(ctx, config.Name)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	config.Labels = map[string]string{"seat": seat}
	return ctrl.Result{}, l.Update(ctx, &config)
}

// A service of one's own, and a controller that uses it.
func ExampleService() {
	for _, looks := range []bool{false, true} {
		licences := NewLicences(2)
		system, err := controllerruntime.New(scheme.Scheme,
			controllerruntime.External(licences),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				asked, err := licences.Client(mgr.GetConfig())
				if err != nil {
					return err
				}
				licensor := &Licensor{Client: mgr.GetClient(), Licences: asked, Looks: looks}
				return ctrl.NewControllerManagedBy(mgr).Named("licensor").For(&corev1.ConfigMap{}).Complete(licensor)
			}),
			controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ann"}}),
			controllerruntime.Properties(properties.NoLeaks(licences.seats.Kind(), "ConfigMap", "metadata.labels.seat")),
		)
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := orrery.Run(context.Background(), system, orrery.Options{Crashes: 1, Failures: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("it looks: %t, and the check says %s\n", looks, result.Report.Verdict)
		for _, finding := range result.Report.Findings {
			fmt.Println("-", finding.Summary)
		}
	}
	// Output:
	// it looks: false, and the check says violated
	// - Seat.licences seat-1 stays forever: no ConfigMap has its name in metadata.labels.seat
	// - with one failed call, the system reaches an outcome that is unreachable without failed calls: Seat.licences seat-2 should not exist, and one more difference
	// it looks: true, and the check says holds
}
