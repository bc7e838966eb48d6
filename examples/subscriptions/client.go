package subscriptions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// API is the client of the service that sends notifications.
type API struct {
	HTTP *http.Client
	// Base is the URL of the service.
	Base string
}

// Create creates a subscription of a topic, and returns its id.
func (a *API) Create(ctx context.Context, topic string) (string, error) {
	var created struct{ ID string }
	err := a.exchange(ctx, http.MethodPost, "/subscriptions?topic="+url.QueryEscape(topic), &created)
	return created.ID, err
}

// Ensure creates the subscription of an id, unless it is there.
func (a *API) Ensure(ctx context.Context, id, topic string) error {
	return a.exchange(ctx, http.MethodPut, "/subscriptions/"+url.PathEscape(id)+"?topic="+url.QueryEscape(topic), nil)
}

// exchange sends a request, and reads the answer.
func (a *API) exchange(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, a.Base+path, nil)
	if err != nil {
		return err
	}
	response, err := a.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.TrimSpace(string(body)))
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}
