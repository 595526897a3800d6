"""An operator as its users write them: makes a ConfigMap for every Garden, and notes the ones that are gone."""

import kopf
import kubernetes


@kopf.on.startup()
def configure(settings, **_):
    settings.persistence.finalizer = "example.com/kopf-finalizer"


def trees_of(name, spec):
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-trees"},
        "data": {"trees": str(spec.get("trees", 0))},
    }
    kopf.adopt(body)
    return body


def api():
    kubernetes.config.load_kube_config()
    return kubernetes.client.CoreV1Api()


@kopf.on.create("example.com", "v1", "gardens")
def plant(name, namespace, spec, patch, **_):
    api().create_namespaced_config_map(namespace, trees_of(name, spec))
    patch.status["planted"] = spec["trees"]


@kopf.on.update("example.com", "v1", "gardens", field="spec.trees")
def replant(name, namespace, spec, new, patch, **_):
    api().patch_namespaced_config_map(f"{name}-trees", namespace, {"data": {"trees": str(new)}})
    patch.status["planted"] = new


@kopf.on.delete("example.com", "v1", "gardens")
def fell(name, namespace, **_):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "felled"}, "data": {"garden": name}}
    api().create_namespaced_config_map(namespace, body)
