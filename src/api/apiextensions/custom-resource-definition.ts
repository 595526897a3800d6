import type {
  Condition,
  JsonObject,
  KubeObject,
  Resource,
  ResourceDefinition,
  ScalePaths,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { createdAtColumns, createdAtRow } from '../common/printing.ts';

export interface CustomResourceDefinitionNames {
  plural: string;
  kind: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface CustomResourceDefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonObject };
  subresources?: { status?: JsonObject; scale?: ScalePaths };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    jsonPath: string;
    format?: string;
    description?: string;
    priority?: number;
  }[];
  selectableFields?: { jsonPath: string }[];
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: 'Namespaced' | 'Cluster';
    names: CustomResourceDefinitionNames;
    versions: CustomResourceDefinitionVersion[];
    conversion?: { strategy: string; webhook?: JsonObject };
    preserveUnknownFields?: boolean;
  };
  status?: {
    conditions?: Condition[];
    acceptedNames?: CustomResourceDefinitionNames;
    storedVersions?: string[];
  };
}

/** Defines names and printer columns only. Defaults and validation belong to the server that serves custom kinds. */
export const customResourceDefinitionDefinition: ResourceDefinition = defineBuiltin<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  component: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  conditionalUpdatesOnly: true,
  hasStatus: true,
  columns: createdAtColumns,
  row: createdAtRow,
});

export const CustomResourceDefinitions: Resource<CustomResourceDefinition> = resourceOf<CustomResourceDefinition>(
  customResourceDefinitionDefinition,
);
