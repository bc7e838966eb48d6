package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority issues certificates for one control plane. Its key never leaves this process.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	folder      string
	serial      int64
}

// pair is a certificate with its key, as files.
type pair struct{ certificate, key string }

// validity is how long certificates hold, and grace how far back they do, for clocks that are set meanwhile.
const (
	validity = 30 * 24 * time.Hour
	grace    = time.Hour
)

// newAuthority returns a new authority that keeps what it issues in a folder.
func newAuthority(folder string) (*authority, error) {
	a := &authority{folder: folder, serial: 1}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	template := a.template("orrery")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return a, writePEM(a.file(), "CERTIFICATE", der)
}

// file is the certificate of the authority.
func (a *authority) file() string { return filepath.Join(a.folder, "authority.crt") }

// text is the certificate of the authority as PEM.
func (a *authority) text() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

func (a *authority) template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-grace), NotAfter: now.Add(validity),
	}
}

// issue issues a certificate for a program, which may show it as a server on the loopback interface and as a client.
func (a *authority) issue(name string) (pair, error) {
	files := pair{filepath.Join(a.folder, name+".crt"), filepath.Join(a.folder, name+".key")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return files, err
	}
	a.serial++
	template := a.template(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses, template.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return files, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return files, err
	}
	if err := writePEM(files.certificate, "CERTIFICATE", der); err != nil {
		return files, err
	}
	return files, writePEM(files.key, "PRIVATE KEY", secret)
}

func writePEM(path, kind string, content []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}
