// Package spans makes OpenTelemetry spans of recordings, for whoever looks at traces already.
//
//	exporter, err := otlptracehttp.New(ctx)
//	...
//	result, err := spans.Export(ctx, sources, exporter) // sources from analysis.Files
//
// Each reconcile is a trace of its own, whose root span lasts from its beginning to its end, and each of its calls is a
// span below. A reconcile has a link to each call that wrote a version of which an event woke it, in whichever process,
// and to the reconcile of the same request before it if that asked for it. So one can follow a change from controller
// to controller, back and forth.
//
// Identifiers are made of the process and the numbers in its recording: spans that are exported twice are the same
// ones. Values of objects are not exported. What reconcilers and API servers say in errors is.
package spans
