import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMaps, Deployments, Namespaces, Pods } from '../api/index.ts';
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
  ManualClock,
  type Resource,
  type UnstructuredObject,
} from '../machinery/index.ts';
import type { LocalClient } from './local-client.ts';
import { type Api, configMap, crd, deployment, pod, startTestServer, type TestServer, widget } from './testing/index.ts';

const by = { fieldManager: 'controller' };
const path = '/api/v1/namespaces/default/configmaps';
type ConfigMap = (typeof ConfigMaps)['object'] & UnstructuredObject;
const maps = ConfigMaps as unknown as Resource<UnstructuredObject>;
const make = (name: string, data: Record<string, string> = {}): UnstructuredObject => ({
  ...configMap(name, { metadata: { namespace: 'default' }, data }),
});
const key = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name });
