// Package knative runs unmodified controllers that are made for Knative's injection: by constructors which get all they
// need from a context, as its sharedmain calls them.
//
// A [Process] lists the constructors that a main.go gives to sharedmain. Its set-up is one of package clientgo:
//
//	system, err := clientgo.New(scheme,
//		clientgo.CRDs("config/core/300-resources"),
//		clientgo.Setup(knative.Process{
//			Controllers: []knative.Controller{{Name: "service", New: service.NewController}, {Name: "route", New: route.NewController}},
//			ConfigMaps:  configMaps,
//		}.Setup))
//
// Everything that is registered for injection is made for each instance, as sharedmain does: clients, factories of
// informers, informers, and informers of duck types. Five things are different:
//
//   - both lanes of a controller's work queue are one, as every order of its items is tried;
//   - a controller leads from its start on, for all keys. To see what happens while two lead, run two of them (--double);
//   - trackers do not forget, as if resyncs renewed what they track;
//   - the ConfigMaps of the control plane do not change, and what controllers log is dropped, with the events that they record;
//   - what a constructor starts that goes on until its context is over is steps of the process, see [clientgo.Environment.BackgroundOf]. It is found out by whether
//     the constructor asks when that is.
package knative
