// Package browser tests the pages of package page in a headless Chromium, and makes the pictures of them that the
// documentation shows. It is a module of its own, as nobody else needs a browser.
package browser
