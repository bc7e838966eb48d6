package kube

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Done is the response of some server that has done a request, with the object that
// it sends back as JSON, nil if it sends none that matters.
func Done(object json.RawMessage) *Response { return done(object) }

// DoneList is the response of some server with a list of so many items, as JSON.
func DoneList(list json.RawMessage, items int) *Response {
	return &Response{Object: list, items: items}
}

// Refused is the response of some server that refuses a request.
func Refused(status *metav1.Status) *Response { return &Response{Status: status, items: -1} }
