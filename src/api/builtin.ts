// Collects the built-in Kubernetes kinds, which have one file each.
import type { ResourceDefinition } from '../machinery/index.ts';
import { mutatingWebhookConfigurationDefinition } from './admissionregistration/mutating-webhook-configuration.ts';
import { validatingAdmissionPolicyDefinition } from './admissionregistration/validating-admission-policy.ts';
import { validatingAdmissionPolicyBindingDefinition } from './admissionregistration/validating-admission-policy-binding.ts';
import { validatingWebhookConfigurationDefinition } from './admissionregistration/validating-webhook-configuration.ts';
import { customResourceDefinitionDefinition } from './apiextensions/custom-resource-definition.ts';
import { apiServiceDefinition } from './apiregistration/api-service.ts';
import { controllerRevisionDefinition } from './apps/controller-revision.ts';
import { daemonSetDefinition } from './apps/daemon-set.ts';
import { deploymentDefinition } from './apps/deployment.ts';
import { replicaSetDefinition } from './apps/replica-set.ts';
import { statefulSetDefinition } from './apps/stateful-set.ts';
import {
  selfSubjectReviewDefinition,
  tokenRequestDefinition,
  tokenReviewDefinition,
} from './authentication/reviews.ts';
import {
  localSubjectAccessReviewDefinition,
  selfSubjectAccessReviewDefinition,
  selfSubjectRulesReviewDefinition,
  subjectAccessReviewDefinition,
} from './authorization/reviews.ts';
import { horizontalPodAutoscalerDefinition } from './autoscaling/horizontal-pod-autoscaler.ts';
import { cronJobDefinition } from './batch/cron-job.ts';
import { jobDefinition } from './batch/job.ts';
import { certificateSigningRequestDefinition } from './certificates/certificate-signing-request.ts';
import { leaseDefinition } from './coordination/lease.ts';
import { bindingDefinition } from './core/binding.ts';
import { configMapDefinition } from './core/config-map.ts';
import { endpointsDefinition } from './core/endpoints.ts';
import { coreEventDefinition } from './core/event.ts';
import { limitRangeDefinition } from './core/limit-range.ts';
import { namespaceDefinition } from './core/namespace.ts';
import { nodeDefinition } from './core/node.ts';
import { persistentVolumeDefinition } from './core/persistent-volume.ts';
import { persistentVolumeClaimDefinition } from './core/persistent-volume-claim.ts';
import { podDefinition } from './core/pod.ts';
import { podTemplateDefinition } from './core/pod-template.ts';
import { replicationControllerDefinition } from './core/replication-controller.ts';
import { resourceQuotaDefinition } from './core/resource-quota.ts';
import { secretDefinition } from './core/secret.ts';
import { serviceDefinition } from './core/service.ts';
import { serviceAccountDefinition } from './core/service-account.ts';
import { endpointSliceDefinition } from './discovery/endpoint-slice.ts';
import { eventDefinition } from './events/event.ts';
import { ingressDefinition } from './networking/ingress.ts';
import { ingressClassDefinition } from './networking/ingress-class.ts';
import { networkPolicyDefinition } from './networking/network-policy.ts';
import { runtimeClassDefinition } from './node/runtime-class.ts';
import { evictionDefinition } from './policy/eviction.ts';
import { podDisruptionBudgetDefinition } from './policy/pod-disruption-budget.ts';
import { clusterRoleDefinition } from './rbac/cluster-role.ts';
import { clusterRoleBindingDefinition } from './rbac/cluster-role-binding.ts';
import { roleDefinition } from './rbac/role.ts';
import { roleBindingDefinition } from './rbac/role-binding.ts';
import { priorityClassDefinition } from './scheduling/priority-class.ts';
import { csiDriverDefinition } from './storage/csi-driver.ts';
import { csiNodeDefinition } from './storage/csi-node.ts';
import { csiStorageCapacityDefinition } from './storage/csi-storage-capacity.ts';
import { storageClassDefinition } from './storage/storage-class.ts';
import { volumeAttachmentDefinition } from './storage/volume-attachment.ts';

/** All built-in resources, core group first. */
export const builtinDefinitions: readonly ResourceDefinition[] = [
  bindingDefinition,
  configMapDefinition,
  endpointsDefinition,
  coreEventDefinition,
  limitRangeDefinition,
  namespaceDefinition,
  nodeDefinition,
  persistentVolumeClaimDefinition,
  persistentVolumeDefinition,
  podDefinition,
  podTemplateDefinition,
  replicationControllerDefinition,
  resourceQuotaDefinition,
  secretDefinition,
  serviceAccountDefinition,
  serviceDefinition,
  mutatingWebhookConfigurationDefinition,
  validatingAdmissionPolicyDefinition,
  validatingAdmissionPolicyBindingDefinition,
  validatingWebhookConfigurationDefinition,
  customResourceDefinitionDefinition,
  apiServiceDefinition,
  controllerRevisionDefinition,
  daemonSetDefinition,
  deploymentDefinition,
  replicaSetDefinition,
  statefulSetDefinition,
  tokenReviewDefinition,
  selfSubjectReviewDefinition,
  subjectAccessReviewDefinition,
  localSubjectAccessReviewDefinition,
  selfSubjectAccessReviewDefinition,
  selfSubjectRulesReviewDefinition,
  horizontalPodAutoscalerDefinition,
  cronJobDefinition,
  jobDefinition,
  certificateSigningRequestDefinition,
  leaseDefinition,
  endpointSliceDefinition,
  eventDefinition,
  ingressClassDefinition,
  ingressDefinition,
  networkPolicyDefinition,
  runtimeClassDefinition,
  podDisruptionBudgetDefinition,
  clusterRoleBindingDefinition,
  clusterRoleDefinition,
  roleBindingDefinition,
  roleDefinition,
  priorityClassDefinition,
  csiDriverDefinition,
  csiNodeDefinition,
  csiStorageCapacityDefinition,
  storageClassDefinition,
  volumeAttachmentDefinition,
];

/**
 * Bodies of the subresources serviceaccounts/token and pods/eviction. Discovery does not list them, but they are
 * decoded, defaulted and validated like other kinds.
 */
export const subresourceBodyDefinitions: readonly ResourceDefinition[] = [tokenRequestDefinition, evictionDefinition];

export {
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
  mutatingWebhookConfigurationDefinition,
} from './admissionregistration/mutating-webhook-configuration.ts';
export {
  type MatchResources,
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyDefinition,
} from './admissionregistration/validating-admission-policy.ts';
export {
  type ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindings,
  validatingAdmissionPolicyBindingDefinition,
} from './admissionregistration/validating-admission-policy-binding.ts';
export {
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
  validatingWebhookConfigurationDefinition,
} from './admissionregistration/validating-webhook-configuration.ts';
export type {
  AdmissionRule,
  Webhook,
  WebhookClientConfig,
  WebhookConfiguration,
} from './admissionregistration/webhook.ts';
export {
  type CustomResourceDefinition,
  type CustomResourceDefinitionNames,
  CustomResourceDefinitions,
  type CustomResourceDefinitionVersion,
  customResourceDefinitionDefinition,
} from './apiextensions/custom-resource-definition.ts';
export { type ApiService, ApiServices, apiServiceDefinition } from './apiregistration/api-service.ts';
export {
  type ControllerRevision,
  ControllerRevisions,
  controllerRevisionDefinition,
} from './apps/controller-revision.ts';
export { type DaemonSet, type DaemonSetSpec, DaemonSets, daemonSetDefinition } from './apps/daemon-set.ts';
export {
  type Deployment,
  type DeploymentSpec,
  type DeploymentStatus,
  Deployments,
  deploymentDefinition,
} from './apps/deployment.ts';
export { type ReplicaSet, ReplicaSets, replicaSetDefinition } from './apps/replica-set.ts';
export { type StatefulSet, type StatefulSetSpec, StatefulSets, statefulSetDefinition } from './apps/stateful-set.ts';
export {
  type SelfSubjectReview,
  selfSubjectReviewDefinition,
  type TokenRequest,
  type TokenReview,
  tokenRequestDefinition,
  tokenReviewDefinition,
  type UserInfo,
  validateTokenRequest,
} from './authentication/reviews.ts';
export {
  type AccessReviewSpec,
  localSubjectAccessReviewDefinition,
  type ResourceAttributes,
  type SelfSubjectRulesReview,
  type SubjectAccessReview,
  SubjectAccessReviews,
  selfSubjectAccessReviewDefinition,
  selfSubjectRulesReviewDefinition,
  subjectAccessReviewDefinition,
} from './authorization/reviews.ts';
export {
  type HorizontalPodAutoscaler,
  HorizontalPodAutoscalers,
  horizontalPodAutoscalerDefinition,
  type Metric,
  type MetricSource,
  type MetricTarget,
  type ScalingRules,
} from './autoscaling/horizontal-pod-autoscaler.ts';
export { type CronJob, CronJobs, cronJobDefinition } from './batch/cron-job.ts';
export { type Job, type JobSpec, Jobs, jobDefinition, type PodFailurePolicyRule } from './batch/job.ts';
export {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  CertificateSigningRequests,
  certificateSigningRequestDefinition,
} from './certificates/certificate-signing-request.ts';
export { type Lease, Leases, leaseDefinition } from './coordination/lease.ts';
export { type Binding, bindingDefinition } from './core/binding.ts';
export { type ConfigMap, ConfigMaps, configMapDefinition } from './core/config-map.ts';
export {
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  EndpointsResource,
  endpointsDefinition,
} from './core/endpoints.ts';
export {
  type CoreEvent,
  CoreEvents,
  coreEventDefinition,
  type EventSeries,
  type ObjectReference,
} from './core/event.ts';
export { type LimitRange, type LimitRangeItem, LimitRanges, limitRangeDefinition } from './core/limit-range.ts';
export { isNamespaceFinalized, type Namespace, Namespaces, namespaceDefinition } from './core/namespace.ts';
export { type Node, type NodeCondition, Nodes, nodeDefinition, type Taint } from './core/node.ts';
export {
  type PersistentVolume,
  type PersistentVolumeSpec,
  PersistentVolumes,
  persistentVolumeDefinition,
} from './core/persistent-volume.ts';
export {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  PersistentVolumeClaims,
  persistentVolumeClaimDefinition,
} from './core/persistent-volume-claim.ts';
export { Pods, podDefinition, qosClass } from './core/pod.ts';
export { type PodTemplate, PodTemplates, podTemplateDefinition } from './core/pod-template.ts';
export type {
  Container,
  ContainerPort,
  ContainerState,
  ContainerStatus,
  DownwardApiFile,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FieldRef,
  Handler,
  HttpGetAction,
  KeyRef,
  KeyToPath,
  Pod,
  PodCondition,
  PodSecurityContext,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  Probe,
  ProjectedSource,
  ResourceFieldRef,
  ResourceRequirements,
  SecurityContext,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from './core/pod-types.ts';
export {
  type ReplicationController,
  ReplicationControllers,
  replicationControllerDefinition,
} from './core/replication-controller.ts';
export { type ResourceQuota, ResourceQuotas, resourceQuotaDefinition } from './core/resource-quota.ts';
export { type Secret, Secrets, secretDefinition } from './core/secret.ts';
export { Services, serviceDefinition } from './core/service.ts';
export { type ServiceAccount, ServiceAccounts, serviceAccountDefinition } from './core/service-account.ts';
export {
  isExternallyAccessible,
  type LoadBalancerIngress,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './core/service-types.ts';
export {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  EndpointSlices,
  endpointSliceDefinition,
} from './discovery/endpoint-slice.ts';
export { type Event, Events, eventDefinition, fromCoreEvent, toCoreEvent } from './events/event.ts';
export {
  type Ingress,
  type IngressBackend,
  Ingresses,
  type IngressRule,
  ingressDefinition,
} from './networking/ingress.ts';
export { type IngressClass, IngressClasses, ingressClassDefinition } from './networking/ingress-class.ts';
export {
  NetworkPolicies,
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  networkPolicyDefinition,
} from './networking/network-policy.ts';
export { type RuntimeClass, RuntimeClasses, runtimeClassDefinition } from './node/runtime-class.ts';
export { type Eviction, evictionDefinition } from './policy/eviction.ts';
export {
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  podDisruptionBudgetDefinition,
} from './policy/pod-disruption-budget.ts';
export { type ClusterRole, ClusterRoles, clusterRoleDefinition } from './rbac/cluster-role.ts';
export {
  type ClusterRoleBinding,
  ClusterRoleBindings,
  clusterRoleBindingDefinition,
} from './rbac/cluster-role-binding.ts';
export { type AggregationRule, isAggregated, type PolicyRule, type RoleRef, type Subject } from './rbac/policy.ts';
export { type Role, Roles, roleDefinition } from './rbac/role.ts';
export { type RoleBinding, RoleBindings, roleBindingDefinition } from './rbac/role-binding.ts';
export { type PriorityClass, PriorityClasses, priorityClassDefinition } from './scheduling/priority-class.ts';
export { type CsiDriver, CsiDrivers, csiDriverDefinition } from './storage/csi-driver.ts';
export { type CsiNode, type CsiNodeDriver, CsiNodes, csiNodeDefinition } from './storage/csi-node.ts';
export {
  CsiStorageCapacities,
  type CsiStorageCapacity,
  csiStorageCapacityDefinition,
} from './storage/csi-storage-capacity.ts';
export {
  isDefaultStorageClass,
  type StorageClass,
  StorageClasses,
  storageClassDefinition,
} from './storage/storage-class.ts';
export { type VolumeAttachment, VolumeAttachments, volumeAttachmentDefinition } from './storage/volume-attachment.ts';
