package subscriptions

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Subscriptions is the state of the service that sends notifications.
type Subscriptions struct {
	// Topics are what is subscribed to, by the ids of subscriptions.
	Topics map[string]string `json:"topics"`
	// Created is how many ids the service has chosen.
	Created int `json:"created"`
}

// handler is the simulated service: as much of it as the controller uses.
func handler(state *Subscriptions) http.Handler {
	if state.Topics == nil {
		state.Topics = map[string]string{}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /subscriptions", func(w http.ResponseWriter, r *http.Request) {
		state.Created++
		id := fmt.Sprintf("sub-%d", state.Created)
		state.Topics[id] = r.URL.Query().Get("topic")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
	})
	mux.HandleFunc("PUT /subscriptions/{id}", func(w http.ResponseWriter, r *http.Request) {
		state.Topics[r.PathValue("id")] = r.URL.Query().Get("topic")
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
