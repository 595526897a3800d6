import type { KubeObject, Resource, ResourceDefinition } from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { column, containerCells, formatLabels, nameColumn } from '../common/printing.ts';
import { defaultPodTemplate } from './pod-defaults.ts';
import type { PodTemplateSpec } from './pod-types.ts';
import { validatePodTemplateSpec } from './pod-validation.ts';

export interface PodTemplate extends KubeObject {
  template?: PodTemplateSpec;
}

export const podTemplateDefinition: ResourceDefinition = defineBuiltin<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  namespaced: true,
  component: 'io.k8s.api.core.v1.PodTemplate',
  columns: [nameColumn, column('Containers'), column('Images'), column('Pod Labels')],
  row(object) {
    const [names, images] = containerCells(object.template?.spec?.containers);
    return [object.metadata.name ?? '', names, images, formatLabels(object.template?.metadata?.labels)];
  },
  applyDefaults(object) {
    setDefault(object, 'template', {});
    if (object.template) defaultPodTemplate(object.template);
  },
  validateCreate: (object) => validatePodTemplateSpec(object.template, 'template'),
  validateUpdate: (object) => validatePodTemplateSpec(object.template, 'template'),
});

export const PodTemplates: Resource<PodTemplate> = resourceOf<PodTemplate>(podTemplateDefinition);
