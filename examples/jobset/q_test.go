package jobset
import ("testing";"context";"fmt";"time";"os"
"github.com/orrery-dev/orrery"
)
func TestQ(t *testing.T){
  size := Size{1,2,1,0}
  if s:=os.Getenv("SIZE"); s!="" { fmt.Sscan(s, &size.JobSets,&size.Groups,&size.Replicas,&size.Restarts)}
  b:=time.Now()
  sys, err := System(size); if err!=nil {t.Fatal(err)}
  fmt.Println("built", time.Since(b))
  b=time.Now()
  r, err := orrery.Run(context.Background(), sys, orrery.Options{MaxTime: time.Minute})
  if err!=nil {t.Fatal( err)}
  p := r.Report
  fmt.Println(p.Verdict, p.Reasons, "states", p.States, "trans", p.Transitions, "term", p.TerminalStates, "out", p.Outcomes, "depth", p.Depth, "exec", p.ReconcilesExecuted, p.Behaviours, time.Since(b))
  for _, a := range p.Assumptions { fmt.Println(" -", a) }
  for _, f := range p.Findings {
   fmt.Println("   ", f.Property, f.Summary, f.Details, f.Steps, f.Controllers, f.Fields, f.Trace.CycleStart)
   for i, s := range f.Trace.Steps { fmt.Println("     ", i, s.Controller, s.Request, s.Result, s.Enqueued); for _,c := range s.Calls { fmt.Println("          ", c.Call, c.Response, c.Wrote) }; for _, c := range s.Changes { if c.Verb=="changed" { fmt.Println("        *",c.Key(), c.Fields)} else { fmt.Println("        *", c.Verb, c.Key())} } }
  }
}
