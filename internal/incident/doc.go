// Package incident is the operator of the tutorial on live traces (docs/live-traces.md): one controller with a defect
// that a stale cache shows. Its tests make the incident happen, hold the tutorial's commands and their output against
// the recording of it, and are what the tutorial ends with.
package incident
