"""The checks of Deploy/checks/kubernetes on the rendered manifests."""
import json
import os
import re
import subprocess
import sys

import kubernetes_validate
import yaml

manifests = [m for m in yaml.safe_load_all(open(sys.argv[1], encoding="utf-8")) if m]
programs = sys.argv[2]
problems = []


def of_kind(kind):
    return {m["metadata"]["name"]: m for m in manifests if m["kind"] == kind}


def expect(fact, problem):
    if not fact:
        problems.append(problem)


# The schema; the kinds of operators are not part of it.
OPERATORS = ("keda.sh/v1alpha1", "monitoring.coreos.com/v1")
for manifest in manifests:
    name = f"{manifest['kind']} {manifest['metadata']['name']}"
    if manifest["apiVersion"] in OPERATORS:
        continue
    try:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        problems.append(f"{name}: {'.'.join(map(str, error.path))}: {error.message}")

deployments = of_kind("Deployment")
table = {service["name"]: service for service in json.load(open("Deploy/services.json", encoding="utf-8"))}
services = set(table)
# The operator's pod runs no service.
by_hand = {"storekeeper"}
expect(set(deployments) == services | by_hand, f"deployments are {sorted(deployments)}")
expect(set(of_kind("PodDisruptionBudget")) == services, "each service has one PodDisruptionBudget")
expect("setup" in of_kind("Job"), "setup is a job")

# KEDA's is made in every deployment, because the component that scales may come later.
principals = {"User:CN=storekeeper-keda"}
settings = {key: value for m in of_kind("ConfigMap").values() for key, value in m["data"].items()}
files = {os.path.basename(value) for key, value in settings.items() if re.fullmatch("KAFKA_SSL_.*_LOCATION", key)}
expect(settings.get("KAFKA_SECURITY_PROTOCOL") == "ssl", "no TLS between the services and Kafka")
expect(files == {"ca.crt", "tls.crt", "tls.key"}, f"the files for TLS are {sorted(files)}")

# No root, no writable root file system, no privilege escalation.
for name, workload in {**deployments, **of_kind("Job")}.items():
    pod = workload["spec"]["template"]["spec"]
    container = pod["containers"][0]
    expect(pod["securityContext"]["runAsNonRoot"], f"{name}: runAsNonRoot")
    expect(pod["automountServiceAccountToken"] is False, f"{name}: mounts a service account token")
    expect(container["securityContext"]["readOnlyRootFilesystem"], f"{name}: readOnlyRootFilesystem")
    expect(container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, f"{name}: capabilities")
    expect("memory" in container["resources"]["limits"], f"{name}: no memory limit")
    if name in services:
        expect({"livenessProbe", "readinessProbe"} <= set(container), f"{name}: probes")
        expect(pod["terminationGracePeriodSeconds"] > 25, f"{name}: grace period below the shutdown deadline")
    secrets = {v["secret"]["secretName"] for v in pod.get("volumes", []) if "secret" in v}
    # Each has its own certificate for Kafka, by whose name the brokers know it, and no other's.
    certificates = {secret for secret in secrets if secret.startswith("storekeeper-kafka-")}
    expect(certificates == {f"storekeeper-kafka-{name}"}, f"{name} has the certificates {sorted(certificates)}")
    principals.add(f"User:CN=storekeeper-{name}")
    if name in services and not table[name]["database"]:
        # The verifier seals what it writes; ingest, which the internet reaches, holds nothing else.
        own = secrets - certificates - ({"storekeeper-record-keys"} if table[name]["recordKeys"] else set())
        expect(not own and "DATABASE_URL" not in str(container.get("env")), f"{name} must not have secrets")
    if not programs or name in by_hand:
        continue
    # The service knows every variable.
    known = subprocess.run([os.path.join(programs, name), "--help"], capture_output=True, text=True, check=True).stdout
    for variable in container.get("env", []):
        expect(re.search(rf"^  {variable['name']}  ", known, re.MULTILINE), f"{name} does not know {variable['name']}")

# KEDA's certificate belongs to it alone: an operator's could write to topics.
for name, authentication in of_kind("TriggerAuthentication").items():
    used = {target["name"] for target in authentication["spec"]["secretTargetRef"]}
    expect(used == {"storekeeper-kafka-keda"}, f"{name}: KEDA has the certificates {sorted(used)}")

# The access-control list is about these certificates.
if programs:
    printed = subprocess.run(
        [os.path.join(programs, "storekeeper"), "acls", "--principal-prefix=User:CN=storekeeper-"], capture_output=True,
        text=True, check=True).stdout
    listed = set(re.findall(r"--allow-principal '?(User:CN=[a-z-]+)", printed))
    expect(listed == principals, f"the access-control list is of {sorted(listed)}, the certificates of {sorted(principals)}")

# Apple's rate limit is shared through the database: a share that differs between services would be no share of one limit.
for name, deployment in deployments.items():
    names = {v["name"] for v in deployment["spec"]["template"]["spec"]["containers"][0].get("env", [])}
    expect("STOREKEEPER_APP_STORE_API_LIMIT_SHARE" not in names, f"{name}: has its own share of Apple's limit")

# Only Apple's addresses reach ingest, at a limited rate, over TLS, and one path of it.
for name, ingress in of_kind("Ingress").items():
    annotations = {key.rpartition("/")[2]: value for key, value in ingress["metadata"].get("annotations", {}).items()}
    expect(annotations.get("whitelist-source-range") == "17.0.0.0/8", f"ingress {name}: not restricted to Apple's addresses")
    expect({"limit-rps", "limit-connections", "proxy-body-size"} <= set(annotations), f"ingress {name}: no limits")
    hosts = {host for tls in ingress["spec"].get("tls", []) for host in tls["hosts"]}
    for rule in ingress["spec"]["rules"]:
        expect(rule["host"] in hosts, f"ingress {name}: {rule['host']} without TLS")
        paths = [path["path"] for path in rule["http"]["paths"]]
        expect(paths == ["/v1/notifications"], f"ingress {name}: passes {paths}")

# A tag can move to other bytes after it was tested: allowed, and said.
images = {workload["spec"]["template"]["spec"]["containers"][0]["image"] for workload in deployments.values()}
for image in sorted(image for image in images if "@sha256:" not in image):
    print(f"kubernetes check: note: {image} is named by a tag, which can move; name it by its digest in production")

# Network policies. A policy without a rule denies; allowed egress is the union of the policies of a pod.
components = services | by_hand | {"setup"}


def chosen(policy):
    selector = policy["spec"]["podSelector"]
    if labels := selector.get("matchLabels"):
        return {labels["app.kubernetes.io/component"]}
    if expressions := selector.get("matchExpressions"):
        return set(expressions[0]["values"])
    return components


reach = {component: set() for component in components}
denied = set()
for policy in of_kind("NetworkPolicy").values():
    if "Egress" not in policy["spec"]["policyTypes"]:
        continue
    denied |= chosen(policy)
    for rule in policy["spec"].get("egress", []):
        for target in rule["to"]:
            namespace = target.get("namespaceSelector", {}).get("matchLabels", {}).get("kubernetes.io/metadata.name")
            place = namespace or f"outside:{rule['ports'][0]['port']}"
            for component in chosen(policy):
                reach[component].add(place)
# What the verifier asks is whether a certificate was revoked, over plain HTTP.
outside = {"trust": {"outside:80"}, "api": {"outside:443"}, None: set()}
arrows = {name: ({"postgres"} if service["database"] else set()) | outside[service["apple"]]
          | ({"outside:443"} if service.get("sends") else set()) for name, service in table.items()}
arrows |= {"setup": {"postgres"}, "storekeeper": {"postgres", "outside:443"}}
expect(denied == components, "some components lack a default-deny policy")
for component, places in arrows.items():
    wanted = places | {"kube-system", "kafka"}
    expect(reach[component] == wanted, f"{component} reaches {sorted(reach[component])}, not {sorted(wanted)}")

# Either KEDA sets the number of instances, or the Deployment does.
for name in services:
    expect(("replicas" in deployments[name]["spec"]) != (name in of_kind("ScaledObject")), f"{name}: replicas and ScaledObject")

# Metrics of the port that the services open.
for monitor in of_kind("PodMonitor").values():
    expect([endpoint["port"] for endpoint in monitor["spec"]["podMetricsEndpoints"]] == ["admin"], "PodMonitor: not the port admin")

# Scalers use an existing topic, its group, and at most its number of partitions.
routes = open("Shared/Domain/Contracts/Topics.swift", encoding="utf-8").read()
for name, scaled in of_kind("ScaledObject").items():
    expect(scaled["spec"]["scaleTargetRef"]["name"] in deployments, f"{name} scales no deployment")
    for trigger in scaled["spec"]["triggers"]:
        if trigger["type"] != "kafka":
            continue
        topic, group = trigger["metadata"]["topic"], trigger["metadata"]["consumerGroup"]
        route = re.search(rf'"{re.escape(topic)}".*?readers: \[(.*?)\]\)', routes, re.DOTALL)
        reader = re.sub(r"-(.)", lambda m: m.group(1).upper(), name)
        expect(route and f".{reader}" in route.group(1), f"{name} does not read {topic}")
        # The same brokers as the pods, with TLS where they use it.
        expect(trigger["metadata"].get("bootstrapServersFromEnv") == "KAFKA_BOOTSTRAP_SERVERS", f"{name}: different brokers")
        expect(trigger["metadata"].get("tls") == "enable", f"{name}: KEDA asks without TLS")
        expect(trigger.get("authenticationRef") == {"name": "kafka"} and "kafka" in of_kind("TriggerAuthentication"),
               f"{name}: KEDA has no certificate")
        expect(group == f"storekeeper.{name}", f"{name} is not in the group {group}")
        expect(scaled["spec"]["maxReplicaCount"] <= 16, f"{name}: more instances than partitions")

# Operators' commands have a database role of their own: no service may make API keys or sign people in.
operator = deployments["storekeeper"]["spec"]["template"]["spec"]
expect("storekeeper-database-operator" in {v["secret"]["secretName"] for v in operator["volumes"] if "secret" in v},
       "the operator's pod does not use the operator's database user")
for name in services:
    text = json.dumps(deployments[name])
    expect("storekeeper-database-operator" not in text, f"{name} has the operator's database user")

for problem in problems:
    print(f"kubernetes check: {problem}", file=sys.stderr)
if problems:
    sys.exit(1)
print(f"kubernetes check: {len(manifests)} manifests, {len(services)} services: consistent")
