package plaintext_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestOf has what is encoded be in plain letters, and all else stay as it is.
func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"web":                     "web",
		"password":                "password", // as base64 it is nothing that anybody would encode
		`{"b":1,  "a": "web"}`:    `{"b":1,  "a": "web"}`,
		`{"b":1`:                  `{"b":1`,
		"-----BEGIN nothing":      "-----BEGIN nothing",
		base64Of("admin"):         "<base64 admin>",
		base64Of("admin\n") + ".": base64Of("admin\n") + ".", // too short for a part of a text
		"Basic " + base64Of("admin:secret word") + " ":                   "Basic <base64 admin:secret word> ",
		`{"b":1.50,"a":"` + base64Of("admin") + `","c":[null,true,"x"]}`: `{"a":"<base64 admin>","b":1.50,"c":[null,true,"x"]}`,
		base64Of(base64Of("admin")):                                      "<base64 <base64 admin>>",
		base64Of(`{"user":"` + base64Of("admin") + `"}`):                 `<base64 {"user":"<base64 admin>"}>`,
		"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbmlzdHJhdG9yIn0.x":          `<base64 {"alg":"none"}>.<base64 {"sub":"administrator"}>.x`, // a token
	} {
		if got := plaintext.Of(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// certificate makes a certificate, in PEM, and the key that it is for.
func certificate(t *testing.T, name string, from time.Time) (string, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name + ".example.com"}, NotBefore: from, NotAfter: from.Add(time.Hour),
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"For": name}, Bytes: private}))
}

// TestCertificates has certificates say their names and times, whatever key they are for, and be signed by what follows
// from that.
func TestCertificates(t *testing.T) {
	from := time.Date(2000, time.January, 1, 12, 30, 0, 0, time.UTC)
	one, key := certificate(t, "web", from)
	text := plaintext.Of(base64Of("# made here\n" + one + key))
	for _, want := range []string{"<base64 # made here\n<CERTIFICATE ", "web.example.com", "2000-01-01T12:30:00Z", "2000-01-01T13:30:00Z", " signed by ", "<EC PRIVATE KEY For: web "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "BEGIN") {
		t.Errorf("something is encoded in %s", text)
	}
	// In nothing but the key and what follows from it do two certificates differ.
	other, _ := certificate(t, "web", from)
	a, b := strings.FieldsFunc(plaintext.Of(one), parts), strings.FieldsFunc(plaintext.Of(other), parts)
	different := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			different++
		}
	}
	if len(a) != len(b) || different != 1 {
		t.Errorf("%d of %d and %d parts differ:\n%q\n%q", different, len(a), len(b), a, b)
	}
	// However a year is written, only the times are others.
	far := from.AddDate(60, 0, 0)
	distant, _ := certificate(t, "web", far)
	if got := strings.NewReplacer("2060-01-01", "2000-01-01").Replace(plaintext.Of(distant)); len(strings.FieldsFunc(got, parts)) != len(a) || strings.Count(got, "time(2000-01-01T") != 2 {
		t.Errorf("in sixty years, more than times is another: %s", got)
	}
	job, _ := certificate(t, "job", from)
	if late, _ := certificate(t, "web", from.Add(time.Second)); len(strings.Split(plaintext.Of(late), "2000-01-01T12:30:01Z")) != 2 || !strings.Contains(plaintext.Of(job), "job.example.com") {
		t.Error("names and times are not in plain letters")
	}
}

func parts(r rune) bool { return strings.ContainsRune("() ", r) }

// TestDissect takes any text apart: the parts of a piece make it up, and a text that says something else is something
// else in plain letters.
func TestDissect(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[a-z0-9-]{0,20}`), rapid.String(), rapid.Custom(func(t *rapid.T) string { return base64Of(rapid.String().Draw(t, "encoded")) }), rapid.Custom(func(t *rapid.T) string {
		text, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "fields"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}))
	rapid.Check(t, func(t *rapid.T) {
		one, other := text.Draw(t, "one"), text.Draw(t, "other")
		if a, b := plaintext.Of(one), plaintext.Of(other); (a == b) != (one == other) {
			t.Fatalf("%q is %q, and %q is %q", one, a, other, b)
		}
		if p := plaintext.Dissect(one); whole(p) != p.Plain {
			t.Fatalf("%q consists of %q", p.Plain, whole(p))
		}
	})
}

// whole puts a piece together from its parts.
func whole(p plaintext.Piece) string {
	if len(p.Parts) == 0 {
		return p.Plain
	}
	all := ""
	for _, part := range p.Parts {
		all += whole(part)
	}
	return all
}

// FuzzDissect takes what anybody writes apart.
func FuzzDissect(f *testing.F) {
	f.Add("-----BEGIN A-----\nMAA=\n-----END A-----\n")
	f.Add(base64Of("0\x80\x30\x02\x30\x00"))
	f.Fuzz(func(t *testing.T, text string) {
		if p := plaintext.Dissect(text); whole(p) != p.Plain {
			t.Errorf("%q consists of %q", p.Plain, whole(p))
		}
	})
}

// BenchmarkOf takes texts of objects apart in which nothing is encoded, as most are.
func BenchmarkOf(b *testing.B) {
	for _, text := range []string{"web", "web-7d4b9c5f6d-x2k8p", "registry.example.com/team/application:v1.2.3", "True", "ContainersNotReady"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				plaintext.Of(text)
			}
		})
	}
}
