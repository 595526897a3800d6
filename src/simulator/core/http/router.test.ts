import { describe, expect, it } from 'vitest';
import { compileRoutes } from './router.ts';

const routes = [
  { method: 'GET', path: '/', name: 'root' },
  { method: 'GET', path: '/servers', name: 'list' },
  { method: 'POST', path: '/servers', name: 'create' },
  { method: 'GET', path: '/servers/detail', name: 'detail' },
  { method: 'GET', path: '/servers/{id}', name: 'show' },
  { method: 'GET', path: '/servers/{id}/tags/{tag}', name: 'tag' },
  { method: 'GET', path: '/servers/detail/extra', name: 'extra' },
];

describe('the router', () => {
  const find = compileRoutes(routes);

  it.each([
    ['/', 'root', {}],
    ['/servers', 'list', {}],
    ['/servers/', 'list', {}],
    ['/servers/detail', 'detail', {}],
    ['/servers/42', 'show', { id: '42' }],
    ['/servers/a%2Fb', 'show', { id: 'a/b' }],
    ['/servers/%zz', 'show', { id: '%zz' }],
    ['/servers/42/tags/x', 'tag', { id: '42', tag: 'x' }],
    // Falls back from a literal segment to a named one.
    ['/servers/detail/tags/x', 'tag', { id: 'detail', tag: 'x' }],
  ])('finds the route for %s', (path, name, params) => {
    const match = find('GET', path);
    expect(match.kind === 'found' && { name: match.route.name, params: match.params }).toEqual({ name, params });
  });

  it.each(['/nothing', '/servers/42/bogus', '/servers/42/tags', '/servers//tags/x'])(
    'finds no route for %s',
    (path) => {
      expect(find('GET', path).kind).toBe('unknown path');
    },
  );

  it('lists the methods of a path', () => {
    expect(find('PUT', '/servers')).toEqual({ kind: 'wrong method', allowed: ['GET', 'POST'] });
  });

  it('refuses two routes for the same request', () => {
    expect(() => compileRoutes([...routes, { method: 'GET', path: '/servers/{other}' }])).toThrow('routed twice');
  });
});
