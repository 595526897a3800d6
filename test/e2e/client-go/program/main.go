// A client-go program that uses an API server the way controllers do: discovery, typed and dynamic clients, server-side
// apply, informers, leader election, eviction. It prints one line per check and exits non-zero at the first failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

type check struct {
	name string
	run  func(ctx context.Context, c *clients) error
}

type clients struct {
	config    *rest.Config
	typed     *kubernetes.Clientset
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	namespace string
}

var checks = []check{
	{"discovery lists preferred resources", checkDiscovery},
	{"typed client creates and reads with protobuf bodies", checkTyped},
	{"conflicting updates are refused and retried", checkConflict},
	{"server-side apply merges managers and reports conflicts", checkApply},
	{"informer sees adds, updates and deletes", checkInformer},
	{"informer pages through many objects", checkManyObjects},
	{"dynamic client and informer handle custom resources", checkDynamic},
	{"metadata client reads partial objects", checkMetadata},
	{"leader election hands over", checkLeaderElection},
	{"eviction honours a disruption budget", checkEviction},
	{"delete collection empties a selection", checkDeleteCollection},
	{"owner deletion removes dependents", checkGarbageCollection},
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fail("kubeconfig", err)
	}
	config.QPS, config.Burst = 500, 500
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := &clients{
		config:   config,
		typed:    kubernetes.NewForConfigOrDie(config),
		dynamic:  dynamic.NewForConfigOrDie(config),
		metadata: metadata.NewForConfigOrDie(config),
	}
	for _, item := range checks {
		namespace, err := c.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "client-go-"},
		}, metav1.CreateOptions{})
		if err != nil {
			fail(item.name, err)
		}
		c.namespace = namespace.Name
		if err := item.run(ctx, c); err != nil {
			fail(item.name, err)
		}
		if err := c.typed.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{}); err != nil {
			fail(item.name, err)
		}
		fmt.Printf("ok %s\n", item.name)
	}
}

func fail(name string, err error) {
	fmt.Printf("FAILED %s: %v\n", name, err)
	os.Exit(1)
}

func checkDiscovery(ctx context.Context, c *clients) error {
	lists, err := discovery.ServerPreferredResources(c.typed.Discovery())
	if err != nil {
		return err
	}
	want := map[string]bool{"v1/pods": false, "apps/v1/deployments": false, "rbac.authorization.k8s.io/v1/roles": false}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			key := list.GroupVersion + "/" + resource.Name
			if _, ok := want[key]; ok {
				want[key] = true
			}
		}
	}
	for key, found := range want {
		if !found {
			return fmt.Errorf("%s is not listed", key)
		}
	}
	version, err := c.typed.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	if version.Major != "1" {
		return fmt.Errorf("unexpected version %v", version)
	}
	_, err = c.typed.Discovery().OpenAPIV3().Paths()
	return err
}

func checkTyped(ctx context.Context, c *clients) error {
	secrets := c.typed.CoreV1().Secrets(c.namespace)
	created, err := secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "typed", Labels: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"key": {0, 1, 2, 255}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	read, err := secrets.Get(ctx, "typed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if read.UID != created.UID || string(read.Data["key"]) != "\x00\x01\x02\xff" || read.Type != corev1.SecretTypeOpaque {
		return fmt.Errorf("read back something else: %+v", read)
	}
	if _, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "typed"}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("expected AlreadyExists, got %v", err)
	}
	if _, err = secrets.Get(ctx, "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("expected NotFound, got %v", err)
	}
	return nil
}

func checkConflict(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	first, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "contended"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stale := first.DeepCopy()
	first.Data = map[string]string{"n": "1"}
	if _, err = maps.Update(ctx, first, metav1.UpdateOptions{}); err != nil {
		return err
	}
	stale.Data = map[string]string{"n": "2"}
	if _, err = maps.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("expected Conflict, got %v", err)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := maps.Get(ctx, "contended", metav1.GetOptions{})
		if err != nil {
			return err
		}
		fresh.Data["n"] = "3"
		_, err = maps.Update(ctx, fresh, metav1.UpdateOptions{})
		return err
	})
}

func checkApply(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	one := applycorev1.ConfigMap("applied", c.namespace).WithData(map[string]string{"shared": "1", "one": "1"})
	if _, err := maps.Apply(ctx, one, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	two := applycorev1.ConfigMap("applied", c.namespace).WithData(map[string]string{"shared": "2", "two": "2"})
	_, err := maps.Apply(ctx, two, metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("expected Conflict, got %v", err)
	}
	if !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		return fmt.Errorf("the conflict names no field manager: %v", err)
	}
	merged, err := maps.Apply(ctx, two, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	if merged.Data["shared"] != "2" || merged.Data["one"] != "1" || merged.Data["two"] != "2" {
		return fmt.Errorf("unexpected merge %v", merged.Data)
	}
	extracted, err := applycorev1.ExtractConfigMap(merged, "one")
	if err != nil {
		return err
	}
	if len(extracted.Data) != 1 || extracted.Data["one"] != "1" {
		return fmt.Errorf("manager one owns %v", extracted.Data)
	}
	shrunk, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", c.namespace), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if _, still := shrunk.Data["one"]; still {
		return errors.New("a field nobody applies any more is still there")
	}
	return nil
}

func checkInformer(ctx context.Context, c *clients) error {
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace))
	events := make(chan string, 100)
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(object any) bool {
			accessor, ok := object.(*corev1.ConfigMap)
			return ok && accessor.Name == "watched"
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { events <- "add" },
			UpdateFunc: func(_, _ any) { events <- "update" },
			DeleteFunc: func(any) { events <- "delete" },
		},
	})
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the cache did not sync")
	}
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	object, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	object.Data = map[string]string{"changed": "yes"}
	if _, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "watched", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, want := range []string{"add", "update", "delete"} {
		select {
		case got := <-events:
			if got != want {
				return fmt.Errorf("expected %s, got %s", want, got)
			}
		case <-ctx.Done():
			return fmt.Errorf("no %s event", want)
		}
	}
	return nil
}

func checkManyObjects(ctx context.Context, c *clients) error {
	const count = 1200
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	failures := make(chan error, count)
	limit := make(chan struct{}, 32)
	for i := range count {
		limit <- struct{}{}
		go func() {
			defer func() { <-limit }()
			_, err := maps.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("many-%04d", i), Labels: map[string]string{"many": "yes"}},
			}, metav1.CreateOptions{})
			failures <- err
		}()
	}
	for range count {
		if err := <-failures; err != nil {
			return err
		}
	}
	seen := 0
	options := metav1.ListOptions{LabelSelector: "many=yes", Limit: 500}
	for {
		page, err := maps.List(ctx, options)
		if err != nil {
			return err
		}
		seen += len(page.Items)
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if seen != count {
		return fmt.Errorf("paged through %d of %d", seen, count)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace))
	lister := factory.Core().V1().ConfigMaps()
	informer := lister.Informer()
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the cache did not sync")
	}
	if cached := len(informer.GetStore().List()); cached < count {
		return fmt.Errorf("the informer holds %d of %d", cached, count)
	}
	return nil
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func checkDynamic(ctx context.Context, c *clients) error {
	group := c.namespace + ".example.com"
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object",
					"properties": map[string]any{
						"spec":   map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "integer", "default": int64(3)}}},
						"status": map[string]any{"type": "object", "properties": map[string]any{"phase": map[string]any{"type": "string"}}},
					},
				}},
			}},
		},
	}}
	if _, err := c.dynamic.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	defer func() { _ = c.dynamic.Resource(crds).Delete(context.Background(), "widgets."+group, metav1.DeleteOptions{}) }()
	widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := c.dynamic.Resource(widgets).Namespace(c.namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("the custom kind is not served: %w", err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, 0, c.namespace, nil)
	informer := factory.ForResource(widgets).Informer()
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the cache did not sync")
	}
	client := c.dynamic.Resource(widgets).Namespace(c.namespace)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{},
	}}
	created, err := client.Create(ctx, widget, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if size, _, _ := unstructured.NestedInt64(created.Object, "spec", "size"); size != 3 {
		return fmt.Errorf("the default was not applied: %v", created.Object)
	}
	patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	if phase, _, _ := unstructured.NestedString(patched.Object, "status", "phase"); phase != "Ready" {
		return fmt.Errorf("the status was not written: %v", patched.Object)
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		item, exists, err := informer.GetStore().GetByKey(c.namespace + "/w")
		if err != nil || !exists {
			return false, err
		}
		phase, _, _ := unstructured.NestedString(item.(*unstructured.Unstructured).Object, "status", "phase")
		return phase == "Ready", nil
	})
}

func checkMetadata(ctx context.Context, c *clients) error {
	if _, err := c.typed.CoreV1().ConfigMaps(c.namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "partial", Annotations: map[string]string{"note": "kept"}},
		Data:       map[string]string{"big": "not sent"},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	object, err := c.metadata.Resource(gvr).Namespace(c.namespace).Get(ctx, "partial", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if object.Annotations["note"] != "kept" {
		return fmt.Errorf("unexpected metadata %+v", object)
	}
	list, err := c.metadata.Resource(gvr).Namespace(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) == 0 {
		return errors.New("the list is empty")
	}
	return nil
}

func checkLeaderElection(ctx context.Context, c *clients) error {
	leading := make(chan string, 2)
	elect := func(identity string, ctx context.Context) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: c.namespace},
			Client:     c.typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- identity },
				OnStoppedLeading: func() {},
			},
		})
	}
	firstCtx, stopFirst := context.WithCancel(ctx)
	go elect("first", firstCtx)
	if who := <-leading; who != "first" {
		stopFirst()
		return fmt.Errorf("%s leads", who)
	}
	secondCtx, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	go elect("second", secondCtx)
	stopFirst()
	select {
	case who := <-leading:
		if who != "second" {
			return fmt.Errorf("%s leads", who)
		}
	case <-ctx.Done():
		return errors.New("nobody took over")
	}
	var lease *coordinationv1.Lease
	lease, err := c.typed.CoordinationV1().Leases(c.namespace).Get(ctx, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != "second" {
		return fmt.Errorf("unexpected lease %+v", lease.Spec)
	}
	return nil
}

func checkEviction(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	zero := int64(0)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "evicted", Labels: map[string]string{"app": "evicted"}},
		Spec: corev1.PodSpec{
			ServiceAccountName:            "default",
			TerminationGracePeriodSeconds: &zero,
			Containers:                    []corev1.Container{{Name: "c", Image: "example.invalid/image:1"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = corev1.PodRunning
	if _, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err = c.typed.PolicyV1().PodDisruptionBudgets(c.namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "evicted"}}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	evict := func() error {
		return pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "evicted", Namespace: c.namespace}})
	}
	if err = evict(); !apierrors.IsTooManyRequests(err) {
		return fmt.Errorf("expected TooManyRequests, got %v", err)
	}
	if err = c.typed.PolicyV1().PodDisruptionBudgets(c.namespace).Delete(ctx, "budget", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err = evict(); err != nil {
		return err
	}
	_, err = pods.Get(ctx, "evicted", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("expected NotFound, got %v", err)
	}
	return nil
}

func checkDeleteCollection(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	for _, name := range []string{"a", "b", "kept"} {
		labels := map[string]string{"group": "gone"}
		if name == "kept" {
			labels = nil
		}
		if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "group=gone"}); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "group=gone"})
	if err != nil {
		return err
	}
	if len(list.Items) != 0 {
		return fmt.Errorf("%d objects are left", len(list.Items))
	}
	_, err = maps.Get(ctx, "kept", metav1.GetOptions{})
	return err
}

func checkGarbageCollection(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "dependent",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}},
	}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "owner", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := maps.Get(ctx, "dependent", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}
