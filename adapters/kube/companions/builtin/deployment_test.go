package builtin

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

func deployments(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := deployment.NewDeploymentController(ctx, factory.Apps().V1().Deployments(), factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

// strategy is a random one for updates.
func strategy(random *rand.Rand) appsv1.DeploymentStrategy {
	if random.IntN(3) == 0 {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	surge := pick(random, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("25%"), intstr.FromString("100%"))
	unavailable := pick(random, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("25%"), intstr.FromString("60%"))
	if surge.IntValue() > 0 || surge.Type == intstr.String {
		unavailable = pick(random, unavailable, intstr.FromInt32(0))
	}
	return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}}
}

func TestDeployments(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind, setKind := appsKind("Deployment"), appsKind("ReplicaSet")
		made := func() *appsv1.Deployment {
			d := &appsv1.Deployment{ObjectMeta: named("d"), Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To(random.Int32N(5)), Selector: selector(), Template: template("i:1"), RevisionHistoryLimit: ptr.To(random.Int32N(3)),
				ProgressDeadlineSeconds: ptr.To[int32](1_000_000_000), Strategy: strategy(random), // companions know no deadline
			}}
			if random.IntN(6) == 0 {
				d.Spec.ProgressDeadlineSeconds = ptr.To[int32](math.MaxInt32)
			}
			return d
		}
		compare(t, scenario(random, creation(kind, made()), func() step {
			number := random.IntN(8)
			switch random.IntN(26) {
			case 0, 1, 2, 3:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(6)))
			case 4, 5, 6, 7:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:%d"}]}}}}`, random.IntN(4)))
			case 8, 9:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"paused":%t}}`, random.IntN(2) == 0))
			case 10:
				return patching(kind, "d", fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, random.IntN(3)))
			case 11:
				s := strategy(random)
				if s.RollingUpdate == nil {
					return patching(kind, "d", `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`)
				}
				return patching(kind, "d", `{"spec":{"strategy":`+string(mustJSON(s))+`}}`)
			case 12:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"revisionHistoryLimit":%d}}`, random.IntN(3)))
			case 13:
				return deletion(kind, "d")
			case 14:
				return addition(kind, made())
			case 15:
				return on("let go of", setKind, number, `{"metadata":{"ownerReferences":null}}`)
			case 16:
				return on("label", setKind, number, `{"metadata":{"labels":{"app":"`+pick(random, "a", "b")+`"}}}`)
			case 17:
				return on("scale", setKind, number, fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(4)))
			case 18:
				return removal(setKind, number)
			}
			return podSteps(random, false)
		}), []companions.Companion{companions.Deployments(), companions.ReplicaSets()}, deployments, replicaSets)
	})
}
