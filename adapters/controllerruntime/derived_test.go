package controllerruntime_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// vault makes what is drawn, and what follows from it.
type vault struct {
	client.Client
	namespace string
}

// secret returns a Secret, which is made if it is not there.
func (v *vault) secret(ctx context.Context, name string, data func() (map[string][]byte, error)) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := v.Get(ctx, client.ObjectKey{Namespace: v.namespace, Name: name}, secret)
	if !apierrors.IsNotFound(err) {
		return secret.Data, err
	}
	made, err := data()
	if err != nil {
		return nil, err
	}
	secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.namespace, Name: name}, Data: made}
	return secret.Data, v.Create(ctx, secret)
}

// passwordIn returns a password, which is made if it is not there.
func (v *vault) passwordIn(ctx context.Context, name string) ([]byte, error) {
	data, err := v.secret(ctx, name, func() (map[string][]byte, error) {
		return map[string][]byte{"password": password(16)}, nil
	})
	return data["password"], err
}

// checksum notes the checksum of a password, if there is none yet or if it may be replaced.
func (v *vault) checksum(ctx context.Context, password []byte, replaces bool) error {
	sum := configMap("sum", nil)
	sum.Namespace = v.namespace
	sum.Data = map[string]string{"sha256": fmt.Sprintf("%x", sha256.Sum256(password))}
	there := &corev1.ConfigMap{}
	err := v.Get(ctx, client.ObjectKeyFromObject(sum), there)
	switch {
	case apierrors.IsNotFound(err):
		return v.Create(ctx, sum)
	case err != nil, !replaces, there.Data["sha256"] == sum.Data["sha256"]:
		return err
	}
	there.Data = sum.Data
	return v.Update(ctx, there)
}

// unsigned draws a key, and the number of what is to be a certificate for it.
func unsigned(name string) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := cryptorand.Int(cryptorand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	return key, &x509.Certificate{SerialNumber: serial, DNSNames: []string{name}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}, err
}

// certificate makes a key and a certificate for it.
func certificate(name string) (map[string][]byte, error) {
	key, template, err := unsigned(name)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	made, err := x509.CreateCertificate(cryptorand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	return map[string][]byte{
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
	}, err
}

// signed makes a key and a certificate for it, which does not say by whose key it is signed.
func signed(name string, by map[string][]byte) (map[string][]byte, error) {
	key, template, err := unsigned(name)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(by["tls.crt"], by["tls.key"]) // which fails if they do not belong together
	if err != nil {
		return nil, err
	}
	issuer := &x509.Certificate{Subject: pair.Leaf.Subject}
	made, err := x509.CreateCertificate(cryptorand.Reader, template, issuer, key.Public(), pair.PrivateKey)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})}, nil
}

// belongs reports whether a certificate is signed by one of an authority.
func belongs(leaf, authority map[string][]byte) bool {
	parse := func(text []byte) *x509.Certificate {
		block, _ := pem.Decode(text)
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			panic(err)
		}
		return certificate
	}
	one, by := parse(leaf["tls.crt"]), parse(authority["tls.crt"])
	return by.CheckSignature(one.SignatureAlgorithm, one.RawTBSCertificate, one.Signature) == nil
}

// TestWordsThatFollow rotates a Secret once, at any time. What follows from what was in it, a checksum or a certificate,
// is that of the Secret which is there in the end, or the outcomes differ. What follows from another Secret, which is
// read as well, makes no difference.
func TestWordsThatFollow(t *testing.T) {
	long(t)
	// leaf returns a certificate, which is signed if it is not there.
	leaf := func(ctx context.Context, v *vault, by map[string][]byte) (map[string][]byte, error) {
		return v.secret(ctx, "leaf", func() (map[string][]byte, error) { return signed("leaf", by) })
	}
	keep := func(ctx context.Context, v *vault, by map[string][]byte) error {
		_, err := leaf(ctx, v, by)
		return err
	}
	renew := func(ctx context.Context, v *vault, by map[string][]byte) error {
		there, err := leaf(ctx, v, by)
		if err != nil || belongs(there, by) {
			return err
		}
		if err := v.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.namespace, Name: "leaf"}}); err != nil {
			return err
		}
		return keep(ctx, v, by)
	}
	// authorized makes an authority, and has a function use it.
	authorized := func(does func(context.Context, *vault, map[string][]byte) error) func(context.Context, *vault) error {
		return func(ctx context.Context, v *vault) error {
			by, err := v.secret(ctx, "rotated", func() (map[string][]byte, error) { return certificate("authority") })
			if err != nil {
				return err
			}
			return does(ctx, v, by)
		}
	}
	alone := authorized(func(context.Context, *vault, map[string][]byte) error { return nil })
	// sums notes the checksum of a password that is rotated.
	sums := func(replaces bool) func(context.Context, *vault) error {
		return func(ctx context.Context, v *vault) error {
			password, err := v.passwordIn(ctx, "rotated")
			if err != nil {
				return err
			}
			return v.checksum(ctx, password, replaces)
		}
	}
	// present calls a function with a Secret that somebody else makes, once it is there.
	present := func(does func(context.Context, *vault, map[string][]byte) error) func(context.Context, *vault) error {
		return func(ctx context.Context, v *vault) error {
			secret := &corev1.Secret{}
			if err := v.Get(ctx, client.ObjectKey{Namespace: v.namespace, Name: "rotated"}, secret); err != nil {
				return client.IgnoreNotFound(err)
			}
			return does(ctx, v, secret.Data)
		}
	}
	toWidget := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: "w"}}}
	})
	for _, test := range []struct {
		name string
		does func(context.Context, *vault) error
		// also is what another controller does.
		also    func(context.Context, *vault) error
		verdict core.Verdict
		says    string
	}{
		{"a checksum that stays", sums(false), nil, core.Violated, "same outcome"},
		{"a checksum that is renewed", sums(true), nil, core.Holds, ""},
		{"a checksum of another password", func(ctx context.Context, v *vault) error {
			password, err := v.passwordIn(ctx, "kept")
			if err != nil {
				return err
			}
			if _, err := v.passwordIn(ctx, "rotated"); err != nil {
				return err
			}
			return v.checksum(ctx, password, false)
		}, nil, core.Holds, ""},
		{"a checksum of both", func(ctx context.Context, v *vault) error {
			kept, err := v.passwordIn(ctx, "kept")
			if err != nil {
				return err
			}
			rotated, err := v.passwordIn(ctx, "rotated")
			if err != nil {
				return err
			}
			return v.checksum(ctx, append(kept, rotated...), false)
		}, nil, core.Violated, "same outcome"},
		{"a certificate that stays", authorized(keep), nil, core.Violated, "same outcome"},
		{"a certificate that is renewed", authorized(renew), nil, core.Holds, ""},
		{"a certificate of another controller that stays", alone, present(keep), core.Violated, "same outcome"},
		{"a certificate of another controller that is renewed", alone, present(renew), core.Holds, ""},
		{"a checksum of what was drawn, or read", func(ctx context.Context, v *vault) error {
			var drawn []byte
			data, err := v.secret(ctx, "rotated", func() (map[string][]byte, error) {
				drawn = password(16)
				return map[string][]byte{"password": drawn}, nil
			})
			if err != nil {
				return err
			}
			if drawn == nil {
				drawn = data["password"]
			}
			return v.checksum(ctx, drawn, true)
		}, nil, core.Holds, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					for i, does := range []func(context.Context, *vault) error{test.does, test.also} {
						if does == nil {
							continue
						}
						err := ctrl.NewControllerManagedBy(mgr).Named([]string{"makes", "follows"}[i]).For(&Widget{}).Owns(&corev1.ConfigMap{}).Watches(&corev1.Secret{}, toWidget).
							Complete(reconcileWidget(c, func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
								return ctrl.Result{}, does(ctx, &vault{c, w.Namespace})
							}))
						if err != nil {
							return err
						}
					}
					return ctrl.NewControllerManagedBy(mgr).Named("rotates").For(&Widget{}).
						Complete(reconcileWidget(c, func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
							if w.Spec.Config == "rotated" {
								return ctrl.Result{}, nil
							}
							secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "rotated"}}
							if err := c.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
								return ctrl.Result{}, err
							}
							w.Spec.Config = "rotated"
							return ctrl.Result{}, c.Update(ctx, w)
						}))
				}))
			system.Properties = properties.Convergent()
			judged(t, system, orrery.Options{}, test.verdict, test.says)
		})
	}
}
