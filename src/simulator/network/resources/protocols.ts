/** Protocol names in rules and their numbers, in neutron's order. */
export const protocolNumbers: Readonly<Record<string, number>> = {
  ah: 51,
  dccp: 33,
  egp: 8,
  esp: 50,
  gre: 47,
  hopopt: 0,
  icmp: 1,
  igmp: 2,
  ip: 0,
  ipip: 4,
  'ipv6-encap': 41,
  'ipv6-frag': 44,
  'ipv6-icmp': 58,
  icmpv6: 58,
  'ipv6-nonxt': 59,
  'ipv6-opts': 60,
  'ipv6-route': 43,
  ospf: 89,
  pgm: 113,
  rsvp: 46,
  sctp: 132,
  tcp: 6,
  udp: 17,
  udplite: 136,
  vrrp: 112,
};

/** Protocols with ports. */
export const portProtocols = ['dccp', 'sctp', 'tcp', 'udp', 'udplite'] as const;

const onlyIpv6 = new Set(['ipv6-encap', 'ipv6-frag', 'ipv6-icmp', 'icmpv6', 'ipv6-nonxt', 'ipv6-opts', 'ipv6-route']);
const onlyIpv6Numbers = new Set(['41', '44', '58', '59', '60', '43']);

/** Returns the number of a protocol, given as name or number. */
export function protocolNumber(protocol: string): number {
  return protocolNumbers[protocol] ?? Number(protocol);
}

export function isOnlyIpv6(protocol: string): boolean {
  return onlyIpv6.has(protocol) || onlyIpv6Numbers.has(protocol);
}

/** Maps the aliases of ICMPv6 to one name or number, for comparing rules. */
export function canonicalProtocol(protocol: string | null, ethertype: string): string | null {
  if (ethertype !== 'IPv6') return protocol;
  if (protocol === 'icmp' || protocol === 'icmpv6') return 'ipv6-icmp';
  return protocol === '1' ? '58' : protocol;
}
