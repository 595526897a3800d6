import type { TypeTable } from '../schema/type-table.ts';

export const discoveryTypes: TypeTable = {
  alias: 'discovery',
  group: 'discovery.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.discovery.v1',
  text: `
EndpointSlice kind # A part of the addresses behind a service.
  addressType  4  string          required enum(FQDN|IPv4|IPv6)  # IPv4, IPv6 or FQDN; cannot change.
  endpoints    2  []Endpoint      required atomic                # The addresses and their state.
  ports        3  []EndpointPort  always atomic                  # The ports of all of them.

Endpoint
  addresses           1  []string               required set
  conditions          2  EndpointConditions  # How far things are.
  hostname            3  *string
  targetRef           4  *core.ObjectReference
  deprecatedTopology  5  map[string]string
  nodeName            6  *string
  zone                7  *string
  hints               8  *EndpointHints

EndpointConditions
  ready        1  *bool
  serving      2  *bool
  terminating  3  *bool

EndpointHints
  forZones  1  []ForZone  atomic
  forNodes  2  []ForNode  atomic

ForZone
  name  1  string  required

ForNode
  name  1  string  required

EndpointPort atomic
  name         1  *string
  protocol     2  *string  enum(SCTP|TCP|UDP)
  port         3  *int32
  appProtocol  4  *string
`,
};
