// The other side of bench/cel: the same work through Kubernetes' own packages. Reads what to do from the file that its
// argument names, and prints a line for each measurement: its name and the CPU time of one operation in nanoseconds.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	kjson "sigs.k8s.io/json"

	celgo "github.com/google/cel-go/cel"
)

// A schema of a custom resource and an object of it.
type rules struct {
	Schema json.RawMessage `json:"schema"`
	Object json.RawMessage `json:"object"`
}

type input struct {
	Rule        rules           `json:"rule"`
	Route       *rules          `json:"route"`
	Expressions []string        `json:"expressions"`
	Pod         json.RawMessage `json:"pod"`
}

type expression string

func (e expression) GetExpression() string      { return string(e) }
func (e expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.BoolType} }

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPU time of all threads, garbage collection included: somebody has to pay for it. The best of five.
func measure(name string, run func()) {
	run()
	best := math.Inf(1)
	for round := 0; round < 5; round++ {
		runtime.GC()
		count, begin := 0, cpu()
		for cpu()-begin < 400*time.Millisecond {
			for i := 0; i < 8; i++ {
				run()
			}
			count += 8
		}
		best = math.Min(best, float64(cpu()-begin)/float64(count))
	}
	fmt.Printf("%s\t%.0f\n", name, best)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func object(raw []byte) map[string]interface{} {
	out := map[string]interface{}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &out); err != nil {
		panic(err)
	}
	return out
}

func custom(name string, in rules) {
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(in.Schema, &props); err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		panic(err)
	}
	structural := must(structuralschema.NewStructural(&internal))
	measure(name+" compile", func() {
		schemacel.NewValidator(structural, true, celconfig.PerCallLimit)
	})
	validator := schemacel.NewValidator(structural, true, celconfig.PerCallLimit)
	value := object(in.Object)
	errs, left := validator.Validate(context.Background(), nil, structural, value, nil, celconfig.RuntimeCELCostBudget)
	if len(errs) > 0 {
		panic(errs.ToAggregate())
	}
	fmt.Printf("%s cost\t%d\n", name, celconfig.RuntimeCELCostBudget-left)
	measure(name+" evaluate", func() {
		validator.Validate(context.Background(), nil, structural, value, nil, celconfig.RuntimeCELCostBudget)
	})
	schemaValidator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		panic(err)
	}
	measure(name+" schema", func() {
		validation.ValidateCustomResource(field.NewPath(""), value, schemaValidator)
	})
}

func policy(in input) {
	var pod corev1.Pod
	if err := json.Unmarshal(in.Pod, &pod); err != nil {
		panic(err)
	}
	var accessors []plugincel.ExpressionAccessor
	for _, it := range in.Expressions {
		accessors = append(accessors, expression(it))
	}
	declared := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	compile := func() plugincel.ConditionEvaluator {
		compiler := must(plugincel.NewCompositedCompiler(base))
		return compiler.CompileCondition(accessors, declared, environment.StoredExpressions)
	}
	measure("policy compile", func() { compile() })
	evaluator := compile()
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	resource := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	attributes := admission.NewAttributesRecord(&pod, nil, kind, pod.Namespace, pod.Name, resource, "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "alice"})
	gvr := metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	gvk := metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
	evaluate := func() []plugincel.EvaluationResult {
		versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind}
		versioned.VersionedObject.Set(&pod)
		request := plugincel.CreateAdmissionRequest(attributes, gvr, gvk)
		results, _, err := evaluator.ForInput(context.Background(), versioned, request, plugincel.OptionalVariableBindings{}, namespace,
			celconfig.RuntimeCELCostBudget)
		if err != nil {
			panic(err)
		}
		return results
	}
	held := 0
	for _, it := range evaluate() {
		if it.Error == nil && it.EvalResult.Value() == true {
			held++
		}
	}
	fmt.Printf("policy held\t%d\n", held)
	measure("policy evaluate", func() { evaluate() })
}

func main() {
	var in input
	if err := json.Unmarshal(must(os.ReadFile(os.Args[1])), &in); err != nil {
		panic(err)
	}
	custom("rule", in.Rule)
	if in.Route != nil {
		custom("route", *in.Route)
	}
	if len(in.Expressions) > 0 {
		policy(in)
	}
}
