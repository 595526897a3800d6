import type { Dice } from '../../support/rough/dice.ts';
import type { Draft } from './draft.ts';
import { jsonBytes } from './encode.ts';
import { customObject, customPaths, hostileCrd } from './hostile-crds.ts';
import { accepts } from './query.ts';
import { anyValue } from './samples.ts';

const names = ['n1', 'n1', 'n2', 'n3'];

/** Creates or deletes a definition of a kind. */
export function defineKind(dice: Dice): Draft {
  const { name, crd } = hostileCrd(dice);
  const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  return dice.weighted<Draft>([
    [
      5,
      () => ({
        idea: 'define a kind',
        method: 'POST',
        path: collection,
        headers: [['content-type', 'application/json']],
        body: jsonBytes(dice, crd),
      }),
    ],
    [
      2,
      () => ({
        idea: 'apply a definition',
        method: 'PATCH',
        path: `${collection}/${name}?fieldManager=f&force=true`,
        headers: [['content-type', 'application/apply-patch+yaml']],
        body: jsonBytes(dice, crd),
      }),
    ],
    [1, () => ({ idea: 'drop a kind', method: 'DELETE', path: `${collection}/${name}`, headers: [] })],
  ]);
}

/** Requests for objects of kinds that other requests may have defined. */
export function writeCustom(dice: Dice): Draft {
  const path = dice.pick(customPaths);
  const [, , group, version] = path.split('/');
  const name = dice.pick(names);
  const object = customObject(dice, name, version!, group!);
  const json: [string, string][] = [['content-type', 'application/json']];
  return dice.weighted<Draft>([
    [4, () => ({ idea: 'create a custom object', method: 'POST', path, headers: json, body: jsonBytes(dice, object) })],
    [
      2,
      () => ({
        idea: 'apply a custom object',
        method: 'PATCH',
        path: `${path}/${name}?fieldManager=f&force=true`,
        headers: [['content-type', 'application/apply-patch+yaml']],
        body: jsonBytes(dice, object),
      }),
    ],
    [
      2,
      () => ({
        idea: 'merge into a custom object',
        method: 'PATCH',
        path: `${path}/${name}`,
        headers: [['content-type', 'application/merge-patch+json']],
        body: jsonBytes(dice, { spec: anyValue(dice, 3) }),
      }),
    ],
    [
      1,
      () => ({
        idea: 'scale a custom object',
        method: dice.pick(['GET', 'PUT', 'PATCH']),
        path: `${path}/${name}/scale`,
        headers: [['content-type', dice.pick(['application/merge-patch+json', 'application/json'])]],
        body: Buffer.from('{"spec":{"replicas":3}}'),
      }),
    ],
    [
      2,
      () => ({
        idea: 'read custom objects',
        method: 'GET',
        path: dice.chance(0.5) ? path : `${path}/${name}`,
        headers: [['accept', dice.pick(accepts)]],
      }),
    ],
    [1, () => ({ idea: 'delete a custom object', method: 'DELETE', path: `${path}/${name}`, headers: [] })],
  ]);
}
