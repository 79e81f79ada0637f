"""Helm's chart of Deploy/kubernetes, generated from what kubectl renders: Deploy/checks/chart.py --write BASE OVERLAY, or
Deploy/checks/chart.py BASE EXAMPLE OVERLAY, which fails where the chart does not render the last two, or is not what --write would write.

BASE, EXAMPLE and OVERLAY are rendered manifests: of Deploy/kubernetes/base, of Deploy/kubernetes/example, and of the example with scaling.
Kustomize stays the source; the chart has the same objects, and eight values. It differs in what follows from Helm: the namespace is the
release's; setup is one Job for each revision, because a Job cannot be changed; a pod is replaced when the ConfigMap changes, by a digest
in an annotation instead of in the ConfigMap's name.
"""
import copy
import pathlib
import re
import sys

import yaml

CHART = pathlib.Path("Deploy/kubernetes/chart")
VERSION = re.search(r'version = "([0-9.]+)', pathlib.Path("Shared/Framework/Chassis/Process/BuildInformation.swift").read_text())[1]
HEAD = "# Written by Deploy/checks/kubernetes --write-chart from Deploy/kubernetes.\n"
SECRETS = {"kafka": "storekeeper-kafka", "database": "storekeeper-database", "recordKeys": "storekeeper-record-keys",
           "webhookKey": "storekeeper-webhook-key", "apiKeys": "storekeeper-api-keys", "certificate": "webhook-certificate"}
# Of the values, in their order; the rest is a value's content.
MEANINGS = {
    "image": "The image without its tag.",
    "tag": "A release, or in production the image's digest: sha256:….",
    "replicas": "Instances of each service; without effect on those that scaling scales.",
    "resources": "Of each pod.",
    "secrets": "Names of secrets that exist: of kafka and database the beginning, which -SERVICE follows. Their content: base/kustomization.yaml.\n"
               "# The ConfigMap storekeeper-apps has to exist, too: kubectl create configmap storekeeper-apps --from-file=apps.json.",
    "hosts": "The host to which Apple posts notifications, by ingress-nginx. Without it there is no Ingress.",
    "scaling": "Whether KEDA, which has to be installed, scales by load.",
    "environment": "Variables: of all pods, and of one service each, such as verifier: {STOREKEEPER_REVOCATION: soft}.",
}


def loaded(path):
    return [manifest for manifest in yaml.safe_load_all(pathlib.Path(path).read_text()) if manifest]


def hashed(manifests):
    """ConfigMaps by the names that Kustomize gave them, with a digest at the end."""
    return {m["metadata"]["name"]: m["metadata"]["name"].rpartition("-")[0] for m in manifests if m["kind"] == "ConfigMap"}


def each_string(value, change):
    if isinstance(value, dict):
        return {name: each_string(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [each_string(element, change) for element in value]
    return change(value) if isinstance(value, str) else value


def containers(manifest):
    template = manifest["spec"].get("template") if manifest["kind"] in ("Deployment", "Job") else None
    return template["spec"]["containers"] if template else []


def templated(manifest, scaled):
    """The manifest with marks, which `text` replaces by what Helm evaluates."""
    manifest = copy.deepcopy(manifest)
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    manifest["metadata"].pop("namespace", None)

    def secret(text):
        for value, standard in SECRETS.items():
            if text == standard or value in ("kafka", "database") and text.startswith(standard + "-"):
                return f"@@secret {value} {text[len(standard):]}@@"
        return text

    if kind in ("Deployment", "Job", "TriggerAuthentication", "Ingress"):
        manifest["spec"] = each_string(manifest["spec"], secret)
    for container in containers(manifest):
        container["image"] = "@@image@@"
        container["resources"] = f"@@resources {name}@@"
        container.setdefault("env", []).append(f"@@environment {name}@@")
        annotations = manifest["spec"]["template"]["metadata"].setdefault("annotations", {})
        annotations["checksum/environment"] = "@@digest@@"
    if kind == "Deployment" and name != "storekeeper":
        manifest["spec"]["replicas"] = f"@@{'scaled' if name in scaled else 'replicas'} {name}@@"
    if kind == "Job":
        manifest["metadata"]["name"] = "@@job@@"
    if kind == "ConfigMap":
        manifest["data"] = "@@data@@"
    if kind == "Ingress":
        manifest = each_string(manifest, lambda text: "@@host@@" if text == "webhook.example.com" else text)
    return manifest


def text(manifest):
    """As YAML with Helm's expressions."""
    lines = yaml.safe_dump(manifest, sort_keys=False, width=10_000, allow_unicode=True)
    assert "{{" not in lines, f"{manifest['metadata']['name']} has what Helm would evaluate"

    def many(match):
        indent, what, name = match[1], match[2], match[3]
        if what == "resources":
            return (f"{indent}resources:\n{indent}  {{{{- toYaml (index .Values.resources \"{name}\") | nindent {len(indent) + 2} }}}}\n")
        if what == "environment":
            return (f"{indent}{{{{- range $name, $value := index .Values.environment \"{name}\" }}}}\n{indent}- name: {{{{ $name }}}}\n"
                    f"{indent}  value: {{{{ $value | quote }}}}\n{indent}{{{{- end }}}}\n")
        if what == "data":
            return f"{indent}data:\n{indent}  {{{{- range $name, $value := .Values.environment.all }}}}\n{indent}  {{{{ $name }}}}: {{{{ $value | quote }}}}\n{indent}  {{{{- end }}}}\n"
        line = f"{indent}replicas: {{{{ index .Values.replicas \"{name}\" }}}}\n"
        return f"{indent}{{{{- if not .Values.scaling }}}}\n{line}{indent}{{{{- end }}}}\n" if what == "scaled" else line

    lines = re.sub(r"^( *)(?:- |\w+: )?'@@(resources|environment|data|replicas|scaled) ?([\w-]*)@@'\n", many, lines, flags=re.MULTILINE)
    lines = re.sub(r"'@@secret (\w+) ([\w-]*)@@'", lambda m: f'"{{{{ .Values.secrets.{m[1]} }}}}{m[2]}"', lines)
    for mark, expression in {
            "image": '"{{ .Values.image }}{{ if hasPrefix "sha256:" .Values.tag }}@{{ else }}:{{ end }}{{ .Values.tag }}"',
            "digest": "{{ toJson .Values.environment | sha256sum }}", "job": '"setup-{{ .Release.Revision }}"',
            "host": '{{ .Values.hosts.notifications | quote }}'}.items():
        lines = lines.replace(f"'@@{mark}@@'", expression)
    assert "@@" not in lines, lines[lines.index("@@") - 80:]
    return lines


def chart(base, overlay):
    """The files of the chart by path."""
    names = hashed(base)
    base = [each_string(m, lambda it: names.get(it, it)) for m in base if m["kind"] != "Namespace"]
    present = {(m["kind"], m["metadata"]["name"]) for m in base}
    scaled = {m["spec"]["scaleTargetRef"]["name"] for m in overlay if m["kind"] == "ScaledObject"}
    pods = [m for m in base if containers(m)]
    values = {
        "image": "storekeeper", "tag": VERSION,
        "replicas": {m["metadata"]["name"]: m["spec"]["replicas"] for m in pods if m["kind"] == "Deployment" and m["metadata"]["name"] != "storekeeper"},
        "resources": {m["metadata"]["name"]: containers(m)[0]["resources"] for m in pods}, "secrets": SECRETS,
        "hosts": {"notifications": ""}, "scaling": False,
        "environment": {"all": next(m["data"] for m in base if m["kind"] == "ConfigMap")}}
    assert list(values) == list(MEANINGS)
    written = HEAD + "".join(
        f"\n# {MEANINGS[name]}\n" + yaml.safe_dump({name: value}, sort_keys=False, width=10_000) for name, value in values.items())
    more = [m for m in overlay if m["kind"] in ("Ingress", "ScaledObject", "TriggerAuthentication") and (m["kind"], m["metadata"]["name"]) not in present]
    templates = {"storekeeper": base, "ingress": [m for m in more if m["kind"] == "Ingress"],
                 "scaling": [m for m in more if m["kind"] != "Ingress"]}
    conditions = {"ingress": ".Values.hosts.notifications", "scaling": ".Values.scaling"}
    files = {
        "Chart.yaml": HEAD + yaml.safe_dump({
            "apiVersion": "v2", "name": "storekeeper", "version": VERSION, "appVersion": VERSION, "type": "application",
            "description": "Turns App Store Server Notifications V2 into state a business can rely on."}, sort_keys=False),
        "values.yaml": written}
    for name, manifests in templates.items():
        body = "---\n".join(text(templated(m, scaled)) for m in manifests)
        if name in conditions:
            body = f"{{{{- if {conditions[name]} }}}}\n{body}{{{{- end }}}}\n"
        files[f"templates/{name}.yaml"] = HEAD + body
    return files


def normal(manifests):
    """Manifests by kind and name, without what differs between Kustomize and Helm by design."""
    names = hashed(manifests)
    found = {}
    for manifest in manifests:
        manifest = each_string(copy.deepcopy(manifest), lambda it: names.get(it, it) if "-" in it else it)
        manifest["metadata"].pop("namespace", None)
        name = manifest["metadata"]["name"]
        if manifest["kind"] == "Namespace" or (manifest["kind"], name) == ("ConfigMap", "storekeeper-apps"):
            continue
        if manifest["kind"] == "Job":
            manifest["metadata"]["name"] = name = "setup"
        for container in containers(manifest):
            container["env"] = sorted(container.get("env", []), key=lambda one: one["name"])
            metadata = manifest["spec"]["template"]["metadata"]
            metadata.get("annotations", {}).pop("checksum/environment", None)
            if not metadata.get("annotations"):
                metadata.pop("annotations", None)
        found[manifest["kind"], name] = manifest
    return found


def rendered(values):
    import helm_python  # From PyPI: Helm's own library.
    with helm_python.Chart.load(str(CHART)) as it:
        texts = it.render(values, name="storekeeper", namespace="storekeeper", revision=1).values()
    manifests = [m for text in texts for m in yaml.safe_load_all(text) if m]
    # Named as Kustomize names it, so that both are treated alike.
    for manifest in manifests:
        if manifest["kind"] == "ConfigMap":
            manifest["metadata"]["name"] += "-0000000000"
    return manifests


def compare(example, overlay):
    problems = []
    values = {
        "image": "registry.example.com/storekeeper", "hosts": {"notifications": "webhook.example.com"}, "environment": {
            "all": {"KAFKA_BOOTSTRAP_SERVERS": "kafka-1.kafka:9093,kafka-2.kafka:9093,kafka-3.kafka:9093"},
            "verifier": {"STOREKEEPER_REVOCATION": "soft"}}}
    for wanted, scaling in ((example, False), (overlay, True)):
        wanted, found = normal(wanted), normal(rendered(values | {"scaling": scaling}))
        for key in sorted(wanted.keys() | found.keys()):
            if wanted.get(key) != found.get(key):
                problems.append(f"chart, scaling {scaling}: {' '.join(key)} is not what Kustomize renders")
    # Each value has its effect.
    other = {"tag": "sha256:" + "0" * 64, "replicas": {"verifier": 7}, "resources": {"api": {"limits": {"memory": "1Gi"}}},
             "secrets": {"kafka": "planted"}, "environment": {"all": {"STOREKEEPER_LOG_LEVEL": "debug"}}}
    found = normal(rendered(values | other))
    pod = found["Deployment", "verifier"]["spec"]["template"]["spec"]
    held = [pod["containers"][0]["image"] == "registry.example.com/storekeeper@sha256:" + "0" * 64,
            found["Deployment", "verifier"]["spec"]["replicas"] == 7,
            found["Deployment", "api"]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"] == "1Gi",
            "planted-verifier" in str(pod["volumes"]), found["ConfigMap", "storekeeper"]["data"]["STOREKEEPER_LOG_LEVEL"] == "debug",
            ("Ingress", "webhook") not in normal(rendered({}))]
    if not all(held):
        problems.append(f"chart: values without effect: {held}")
    return problems


if sys.argv[1] == "--write":
    for path, content in chart(*map(loaded, sys.argv[2:])).items():
        (CHART / path).parent.mkdir(parents=True, exist_ok=True)
        (CHART / path).write_text(content)
else:
    base, example, overlay = map(loaded, sys.argv[1:])
    stale = [f"chart: {path} is not what Deploy/checks/kubernetes --write-chart writes" for path, content in chart(base, overlay).items()
             if not (CHART / path).exists() or (CHART / path).read_text() != content]
    problems = stale or compare(example, overlay)
    if problems:
        sys.exit("\n".join(problems))
    print(f"kubernetes check: the chart renders what Kustomize renders, and each of its {len(MEANINGS)} values has its effect")
