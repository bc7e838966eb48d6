package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// TestCertificates runs a server that lets in only who has a certificate of its authority.
func TestCertificates(t *testing.T) {
	own, other := authorityIn(t), authorityIn(t)
	pool := x509.NewCertPool()
	pool.AddCert(own.certificate)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{loaded(t, own, "server")}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	defer server.Close()
	for _, test := range []struct {
		name  string
		shown []tls.Certificate
		let   bool
	}{
		{"with a certificate", []tls.Certificate{loaded(t, own, "client")}, true},
		{"with one of somebody else", []tls.Certificate{loaded(t, other, "client")}, false},
		{"without one", nil, false},
	} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: test.shown}}}
		response, err := client.Get(server.URL)
		if err == nil {
			response.Body.Close()
		}
		if (err == nil) != test.let {
			t.Errorf("%s: %v", test.name, err)
		}
		client.CloseIdleConnections()
	}
}

func authorityIn(t *testing.T) *authority {
	t.Helper()
	a, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func loaded(t *testing.T, a *authority, name string) tls.Certificate {
	t.Helper()
	files, err := a.issue(name)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(files.key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v, %v", info.Mode(), err)
	}
	certificate, err := tls.LoadX509KeyPair(files.certificate, files.key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
