//! Admission policies, from `kubectl apply` to what kubectl says of a refusal.

use testkit::server::Server;

use crate::{says, web};

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  variables:
  - {name: max, expression: 'int(params.data.max)'}
  validations:
  - expression: object.spec.replicas <= variables.max
    messageExpression: '\"at most \" + string(variables.max) + \" replicas\"'
";

const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec:
  policyName: replicas
  validationActions: [Deny]
  paramRef: {name: replicas, namespace: default, parameterNotFoundAction: Deny}
";

#[testkit::requires(kubectl)]
#[tokio::test]
async fn policies_refuse_and_warn() {
    let server = Server::start().await;
    server.ok("create configmap replicas --from-literal=max=3");
    server.apply(POLICY);
    server.apply(BINDING);
    says(
        &server.ok("get validatingadmissionpolicies"),
        &[
            "NAME",
            "VALIDATIONS",
            "PARAMKIND",
            "replicas",
            "1",
            "v1/ConfigMap",
        ],
    );
    server.apply(&web("nginx", 3));
    // A subresource is not meant unless it is named.
    server.ok("scale deployment web --replicas=4");
    let said = server
        .kubectl_with(&["apply", "-f", "-"], &web("nginx", 4))
        .err();
    says(
        &said,
        &[
            "The deployments \"web\" is invalid: : ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: at most 3 replicas",
        ],
    );
    server.ok(r#"patch configmap replicas --type=merge -p '{"data":{"max":"5"}}'"#);
    server.apply(&web("nginx", 4));
    server.ok(r#"patch validatingadmissionpolicybinding replicas --type=merge -p '{"spec":{"validationActions":["Warn"]}}'"#);
    let warned = server.kubectl_with(&["apply", "-f", "-"], &web("nginx", 6));
    says(
        &warned.stderr,
        &[
            "Warning: Validation failed for ValidatingAdmissionPolicy 'replicas' with binding 'replicas': at most 5 replicas",
        ],
    );
    let wrong = POLICY.replace("variables.max\n", "variables.min\n");
    let said = server.kubectl_with(&["apply", "-f", "-"], &wrong).err();
    says(
        &said,
        &[
            "The ValidatingAdmissionPolicy \"replicas\" is invalid: spec.validations[0].expression: Invalid value: \"object.spec.replicas <= variables.min\"",
            "compilation failed: ERROR: <input>:1:34: undefined field 'min'",
        ],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn policies_are_type_checked() {
    let server = Server::start().await;
    server.apply(POLICY);
    let status = "get validatingadmissionpolicy replicas -o jsonpath={.status}";
    let checked = server.until(status, |answer| {
        answer.stdout.contains("\"observedGeneration\":1")
    });
    assert_eq!(
        checked.stdout,
        r#"{"observedGeneration":1,"typeChecking":{}}"#
    );
    let wrong = POLICY.replace("object.spec.replicas <=", "object.spec.replicaz <=");
    server.apply(&wrong);
    let checked = server.until(status, |answer| {
        answer.stdout.contains("\"observedGeneration\":2")
    });
    says(
        &checked.stdout,
        &[
            "expressionWarnings",
            r#""fieldRef":"spec.validations[0].expression""#,
            r#""warning":"apps/v1, Kind=Deployment: ERROR: \u003cinput\u003e:1:12: undefined field 'replicaz'\n | object.spec.replicaz \u003c= variables.max\n | ...........^\n"#,
        ],
    );
}

const MUTATION: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: sidecar}
spec:
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  matchConditions:
  - name: none-yet
    expression: '!object.spec.template.spec.?initContainers.orValue([]).exists(it, it.name == \"mesh\")'
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{
          metadata: Object.metadata{annotations: {\"mesh\": \"on\"}},
          spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
            initContainers: [Object.spec.template.spec.initContainers{
              name: \"mesh\", image: \"mesh:1\", restartPolicy: \"Always\"
            }]
          }}}
        }
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: sidecar}
spec: {policyName: sidecar}
";

#[testkit::requires(kubectl)]
#[tokio::test]
async fn policies_change_objects() {
    let server = Server::start().await;
    server.apply(MUTATION);
    server.apply(&web("nginx", 1));
    let show = "get deployment web -o jsonpath={.metadata.annotations.mesh}:{.spec.template.spec.initContainers[*].name}:{.spec.template.spec.containers[*].name}";
    assert_eq!(server.ok(show), "on:mesh:web");
    server.apply(&web("nginx", 2));
    assert_eq!(server.ok(show), "on:mesh:web");
    server.ok("delete mutatingadmissionpolicybinding sidecar");
    server.ok("delete deployment web");
    server.apply(&web("nginx", 1));
    assert_eq!(server.ok(show), "::web");
}
