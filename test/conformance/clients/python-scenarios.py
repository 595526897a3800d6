"""What programs do with the Python client of Kubernetes; one function for each scenario, called by its name."""

import sys
import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

NAMESPACE = "python"


def refused(status, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ApiException as error:
        assert error.status == status, error
        return error
    raise AssertionError(f"expected {status}")


def config_map(name, data, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data=data)


def create_and_read():
    core = client.CoreV1Api()
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    for number in range(5):
        core.create_namespaced_config_map(NAMESPACE, config_map(f"page-{number}", {"n": str(number)}, labels={"a": "b"}))
    first = core.list_namespaced_config_map(NAMESPACE, label_selector="a=b", limit=2)
    assert len(first.items) == 2 and first.metadata._continue, first
    rest = core.list_namespaced_config_map(NAMESPACE, label_selector="a=b", _continue=first.metadata._continue)
    assert [one.metadata.name for one in rest.items] == ["page-2", "page-3", "page-4"], rest
    error = refused(409, core.create_namespaced_config_map, NAMESPACE, config_map("page-0", {}))
    assert "already exists" in error.body, error.body
    error = refused(422, core.create_namespaced_config_map, NAMESPACE, config_map("Not_a_name", {}))
    assert "RFC 1123" in error.body, error.body
    refused(404, core.read_namespaced_config_map, "absent", NAMESPACE)


def patch():
    core = client.CoreV1Api()
    core.patch_namespaced_config_map("page-0", NAMESPACE, {"data": {"n": None, "m": "1"}})
    found = core.read_namespaced_config_map("page-0", NAMESPACE)
    assert found.data == {"m": "1"}, found.data
    operations = [{"op": "replace", "path": "/data/m", "value": "2"}]
    found = core.patch_namespaced_config_map("page-0", NAMESPACE, operations)
    assert found.data == {"m": "2"}, found.data
    stale = core.read_namespaced_config_map("page-0", NAMESPACE)
    core.patch_namespaced_config_map("page-0", NAMESPACE, {"data": {"m": "3"}})
    stale.data["m"] = "4"
    refused(409, core.replace_namespaced_config_map, "page-0", NAMESPACE, stale)


def watch_objects():
    core = client.CoreV1Api()
    start = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

    def act():
        core.create_namespaced_config_map(NAMESPACE, config_map("seen", {"n": "1"}))
        core.patch_namespaced_config_map("seen", NAMESPACE, {"data": {"n": "2"}})
        core.delete_namespaced_config_map("seen", NAMESPACE)

    threading.Thread(target=act).start()
    follow = watch.Watch()
    events = []
    options = {"resource_version": start, "field_selector": "metadata.name=seen", "timeout_seconds": 60}
    for event in follow.stream(core.list_namespaced_config_map, NAMESPACE, **options):
        events.append((event["type"], event["object"].data["n"]))
        if event["type"] == "DELETED":
            follow.stop()
    assert events == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")], events


def logs_and_exec():
    core = client.CoreV1Api()
    command = ["sh", "-c", "echo one; echo two; sleep 600"]
    container = client.V1Container(name="main", image="busybox", command=command)
    body = client.V1Pod(metadata=client.V1ObjectMeta(name="shell"), spec=client.V1PodSpec(containers=[container]))
    core.create_namespaced_pod(NAMESPACE, body)
    follow = watch.Watch()
    options = {"field_selector": "metadata.name=shell", "timeout_seconds": 60}
    for event in follow.stream(core.list_namespaced_pod, NAMESPACE, **options):
        if event["object"].status.phase == "Running":
            follow.stop()
    follow = watch.Watch()
    lines = []
    for line in follow.stream(core.read_namespaced_pod_log, "shell", NAMESPACE, follow=True):
        lines.append(line)
        if len(lines) == 2:
            follow.stop()
            break
    assert lines == ["one", "two"], lines
    said = stream(
        core.connect_get_namespaced_pod_exec,
        "shell",
        NAMESPACE,
        command=["sh", "-c", "echo $((6 * 7))"],
        stdout=True,
        stderr=True,
        stdin=False,
        tty=False,
    )
    assert said.strip() == "42", said
    session = stream(
        core.connect_get_namespaced_pod_exec,
        "shell",
        NAMESPACE,
        command=["sh", "-c", "exit 3"],
        stdout=True,
        stderr=True,
        stdin=False,
        tty=False,
        _preload_content=False,
    )
    session.run_forever(timeout=30)
    assert session.returncode == 3, session.returncode


def dynamic_objects():
    names = client.V1CustomResourceDefinitionNames(plural="pythons", singular="python", kind="Python")
    schema = client.V1CustomResourceValidation(
        open_apiv3_schema=client.V1JSONSchemaProps(
            type="object",
            properties={
                "spec": client.V1JSONSchemaProps(
                    type="object", properties={"length": client.V1JSONSchemaProps(type="integer", maximum=10)}
                )
            },
        )
    )
    version = client.V1CustomResourceDefinitionVersion(name="v1", served=True, storage=True, schema=schema)
    spec = client.V1CustomResourceDefinitionSpec(
        group="snakes.example.com", scope="Namespaced", names=names, versions=[version]
    )
    metadata = client.V1ObjectMeta(name="pythons.snakes.example.com")
    client.ApiextensionsV1Api().create_custom_resource_definition(
        client.V1CustomResourceDefinition(metadata=metadata, spec=spec)
    )
    found = None
    deadline = time.monotonic() + 30
    while found is None:
        try:
            discovered = dynamic.DynamicClient(client.ApiClient())
            found = discovered.resources.get(api_version="snakes.example.com/v1", kind="Python")
        except dynamic.exceptions.ResourceNotFoundError:
            assert time.monotonic() < deadline, "the kind is not served"
    body = {"apiVersion": "snakes.example.com/v1", "kind": "Python", "metadata": {"name": "monty"}, "spec": {"length": 3}}
    made = found.server_side_apply(body=body, name="monty", namespace=NAMESPACE, field_manager="python")
    assert made.spec.length == 3, made
    body["spec"]["length"] = 4
    try:
        found.server_side_apply(body=body, name="monty", namespace=NAMESPACE, field_manager="other")
        raise AssertionError("expected a conflict")
    except dynamic.exceptions.ConflictError as error:
        assert 'conflict with \\"python\\"' in str(error.body), error.body
    body["spec"]["length"] = 11
    try:
        found.patch(body=body, name="monty", namespace=NAMESPACE, content_type="application/merge-patch+json")
        raise AssertionError("expected a refusal")
    except dynamic.exceptions.UnprocessibleEntityError as error:
        assert "should be less than or equal to 10" in str(error.body), error.body
    assert [one.metadata.name for one in found.get(namespace=NAMESPACE).items] == ["monty"]


def informal():
    review = client.AuthenticationV1Api().create_self_subject_review({"kind": "SelfSubjectReview"})
    assert review.status.user_info.username, review
    attributes = client.V1ResourceAttributes(verb="create", resource="pods", namespace=NAMESPACE)
    spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    body = client.V1SelfSubjectAccessReview(spec=spec)
    assert client.AuthorizationV1Api().create_self_subject_access_review(body).status.allowed
    assert client.VersionApi().get_code().major == "1"
    assert "apps" in [group.name for group in client.ApisApi().get_api_versions().groups]


def cleanup():
    core = client.CoreV1Api()
    client.ApiextensionsV1Api().delete_custom_resource_definition("pythons.snakes.example.com")
    follow = watch.Watch()
    started = core.list_namespace(field_selector=f"metadata.name={NAMESPACE}").metadata.resource_version
    core.delete_namespace(NAMESPACE)
    options = {"field_selector": f"metadata.name={NAMESPACE}", "resource_version": started, "timeout_seconds": 120}
    for event in follow.stream(core.list_namespace, **options):
        if event["type"] == "DELETED":
            follow.stop()
    refused(404, core.read_namespace, NAMESPACE)


SCENARIOS = {
    "create_and_read": create_and_read,
    "patch": patch,
    "watch": watch_objects,
    "logs_and_exec": logs_and_exec,
    "dynamic": dynamic_objects,
    "informal": informal,
    "cleanup": cleanup,
}

config.load_kube_config()
SCENARIOS[sys.argv[1]]()
