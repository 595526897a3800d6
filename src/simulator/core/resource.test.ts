import { describe, expect, it } from 'vitest';
import type { RequestContext } from './http/context.ts';
import { type Resource, resourceRoutes } from './resource.ts';

interface Thing {
  readonly id: string;
}

const definition: Resource<Thing> = {
  path: '/things',
  name: 'thing',
  collection: 'things',
  find: (context) => ({ id: context.param('id') }),
  view: ({ id }, _context, operation) => ({ id, operation }),
};

const context = { param: () => 'a' } as Partial<RequestContext> as RequestContext;

describe('the routes of a resource', () => {
  it('belong to the operations it has', () => {
    const all = resourceRoutes({
      ...definition,
      list: () => ({ status: 200, body: {} }),
      create: () => ({ id: 'b' }),
      update: () => ({ id: 'c' }),
      delete: () => undefined,
    });
    const called = (routes: typeof all): string[] => routes.map(({ method, path }) => `${method} ${path}`);
    expect(called(resourceRoutes(definition))).toEqual(['GET /things/{id}']);
    expect(called(all)).toEqual([
      'GET /things/{id}',
      'GET /things',
      'POST /things',
      'PUT /things/{id}',
      'DELETE /things/{id}',
    ]);
  });

  it('answer with the usual statuses or with those of the definition', () => {
    const answers = (resource: Resource<Thing>): unknown[] =>
      resourceRoutes(resource).map(({ handle }) => handle(context));
    const changing: Resource<Thing> = { ...definition, create: () => ({ id: 'b' }), delete: () => undefined };
    expect(answers(changing)).toEqual([
      { status: 200, body: { thing: { id: 'a', operation: 'show' } } },
      { status: 201, body: { thing: { id: 'b', operation: 'create' } } },
      { status: 204 },
    ]);
    expect(answers({ ...changing, statuses: { create: 200, delete: 202 } })).toMatchObject([
      { status: 200 },
      { status: 200 },
      { status: 202 },
    ]);
  });

  it('return several resources when several were created', () => {
    const [, create] = resourceRoutes({ ...definition, create: () => [{ id: 'b' }, { id: 'c' }] });
    const things = ['b', 'c'].map((id) => ({ id, operation: 'create' }));
    expect(create!.handle(context)).toEqual({ status: 201, body: { things } });
  });

  it('have the policy, method and microversions of the definition', () => {
    const [show, update] = resourceRoutes({
      ...definition,
      updateMethod: 'PATCH',
      policy: (operation) => (operation === 'show' ? undefined : { name: operation, level: 'admin' }),
      versions: (operation) => (operation === 'update' ? { since: 55 } : {}),
      update: () => ({ id: 'c' }),
    });
    expect(show).not.toHaveProperty('policy');
    expect(show).not.toHaveProperty('since');
    expect(update).toMatchObject({ method: 'PATCH', policy: { name: 'update', level: 'admin' }, since: 55 });
  });
});
