package browser

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "write pictures of the page into this `folder`")

// shown is the file with what the pictures of the documentation show: a hash of each page.
const shown = "testdata/pictures.sum"

// picture is a picture of the documentation.
type picture struct {
	name, scheme, address string
	width, height         int64
}

// TestPictures makes the pictures of the documentation if it is told to: go test -run TestPictures -pictures
// ../../../docs/pictures. If it is not, it tells when they show pages that have become others since.
func TestPictures(t *testing.T) {
	ctx, _ := open(t, budget("one Pod is enough"))
	report := evaluate[string](t, ctx, "location.href")
	served := serve(t, "on a desk")
	var sums strings.Builder
	for _, p := range []picture{
		{"page", "light", report, 1280, 1500}, {"page-dark", "dark", report, 1280, 1500}, {"page-narrow", "light", report, 360, 1500},
		{"states", "light", served + "states", 1280, 960}, {"walk", "light", served + "walk?state=0&take=0", 1280, 700},
	} {
		fmt.Fprintf(&sums, "%x %s %s %dx%d\n", sha256.Sum256([]byte(source(t, p.address))), p.name, p.scheme, p.width, p.height)
		if *pictures == "" {
			continue
		}
		do(t, ctx, chromedp.Navigate(p.address), chromedp.EmulateViewport(p.width, p.height), scheme(p.scheme))
		png := get(t, ctx, chromedp.CaptureScreenshot())
		if err := os.WriteFile(filepath.Join(*pictures, p.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *pictures != "" {
		if err := os.WriteFile(shown, []byte(sums.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	if sums.String() != string(was) {
		t.Errorf("the pages are no longer those that the pictures of the documentation show: make these anew (go test -run TestPictures -pictures ../../../docs/pictures), and look at them\n%s\nthey were\n%s", &sums, was)
	}
}

// source returns the page at an address, with its style: a report has that in it, and a page that is served has a link
// to it.
func source(t *testing.T, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if at.Scheme == "file" {
		page, err := os.ReadFile(at.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	style := ""
	if sheet := at.ResolveReference(&url.URL{Path: "/page.css"}).String(); sheet != address {
		style = source(t, sheet)
	}
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", response.Status, err)
	}
	return string(page) + style
}
