import type { ClusterRole, ClusterRoleBinding } from '../../api/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { bindingOf } from '../controller-identity.ts';
import { installedDefinitions } from './installed-kinds.ts';

/** Permissions to serve webhooks: writing the CA bundle into definitions and configurations. */
export const webhooksRole: ClusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'capstan-webhooks' },
  rules: [
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      resourceNames: [configurationName],
      verbs: ['get', 'patch'],
    },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: installedDefinitions
        .filter(({ versions }) => versions.length > 1)
        .map(({ plural, group }) => `${plural}.${group}`),
      verbs: ['patch'],
    },
  ],
};

export const webhooksRoleBinding: ClusterRoleBinding = bindingOf(webhooksRole);
