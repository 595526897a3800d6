import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Operation } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import type { Table } from '../core/state/table.ts';
import { checkRead, isOperator } from './access.ts';
import { type Attributes, updateShape } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Shape } from './body/shape.ts';
import { findRow } from './find.ts';
import { pick } from './listing.ts';
import type { Octavia } from './octavia.ts';
import { providers } from './providers.ts';
import { forbidden, inUse, invalidOption, notFound, type ThingName } from './refusals.ts';
import { type OctaviaResource, octaviaRoutes } from './resource.ts';
import type { OfferRow, ProfileRow } from './rows.ts';

/** Flavors and availability zones work the same way: operators create profiles and offers, members choose an offer. */
interface Kind {
  readonly offer: {
    readonly path: string;
    readonly wrapper: string;
    readonly collection: string;
    readonly thing: ThingName;
  };
  readonly profile: {
    readonly path: string;
    readonly wrapper: string;
    readonly collection: string;
    readonly thing: ThingName;
    /** attribute with the JSON */
    readonly data: string;
  };
  /** attribute of the offer with the id of its profile */
  readonly profileKey: string;
  readonly offers: Table<OfferRow>;
  readonly profiles: Table<ProfileRow>;
  /** finds flavors by id, zones by name */
  find(key: string): Readonly<OfferRow> | undefined;
  isUsed(offer: Readonly<OfferRow>): boolean;
}

/** Finds a flavor with its provider. */
export function findFlavor(
  { flavors, flavorProfiles }: Octavia,
  id: string,
): (OfferRow & { provider: string }) | undefined {
  const flavor = flavors.get(id);
  return flavor && { ...flavor, provider: flavorProfiles.get(flavor.profile_id)?.provider_name ?? 'amphora' };
}

export function findZone({ zones }: Octavia, name: string): Readonly<OfferRow> | undefined {
  for (const zone of zones.all()) if (zone.name === name && zone.enabled) return zone;
  return undefined;
}

export function offerRoutes(octavia: Octavia, base: string): Route[] {
  const newId = (): string => octavia.core.ids.uuid();
  return [flavorKind(octavia), zoneKind(octavia)].flatMap((kind) => [
    ...octaviaRoutes(base, profileResource(kind, newId)),
    ...octaviaRoutes(base, offerResource(kind, newId)),
  ]);
}

function flavorKind({ flavors, flavorProfiles, loadBalancers }: Octavia): Kind {
  return {
    offer: { path: 'flavors', wrapper: 'flavor', collection: 'flavors', thing: 'Flavor' },
    profile: {
      path: 'flavorprofiles',
      wrapper: 'flavorprofile',
      collection: 'flavorprofiles',
      thing: 'Flavor Profile',
      data: 'flavor_data',
    },
    profileKey: 'flavor_profile_id',
    offers: flavors,
    profiles: flavorProfiles,
    find: (id) => flavors.get(id),
    isUsed: ({ id }) => [...loadBalancers.all()].some(({ flavor_id }) => flavor_id === id),
  };
}

function zoneKind(octavia: Octavia): Kind {
  const { zones, zoneProfiles, loadBalancers } = octavia;
  return {
    offer: {
      path: 'availabilityzones',
      wrapper: 'availability_zone',
      collection: 'availability_zones',
      thing: 'Availability Zone',
    },
    profile: {
      path: 'availabilityzoneprofiles',
      wrapper: 'availability_zone_profile',
      collection: 'availability_zone_profiles',
      thing: 'Availability Zone Profile',
      data: 'availability_zone_data',
    },
    profileKey: 'availability_zone_profile_id',
    offers: zones,
    profiles: zoneProfiles,
    find: (name) => [...zones.all()].find((zone) => zone.name === name),
    isUsed: ({ name }) => [...loadBalancers.all()].some(({ availability_zone }) => availability_zone === name),
  };
}

function operatorOnly({ caller }: RequestContext): void {
  if (!isOperator(caller)) throw forbidden();
}

function mustBeEnabled(provider: string): void {
  if (providers.some(({ name }) => name === provider)) return;
  throw new Refusal(400, `Provider '${provider}' is not enabled.`);
}

/** Allows changes to operators only. `reads` guards read access. */
function guarded(reads: (context: RequestContext) => void): (context: RequestContext, operation: Operation) => void {
  return (context, operation) => (operation === 'list' || operation === 'show' ? reads : operatorOnly)(context);
}

function profileResource({ profile, profiles, offers }: Kind, newId: () => string): OctaviaResource<ProfileRow> {
  const createShape: Shape = {
    name: { read: fields.text(255), mandatory: true },
    provider_name: { read: fields.text(255), mandatory: true },
    [profile.data]: { read: fields.text(4096), mandatory: true },
  };
  const view = ({ id, name, provider_name, data }: Readonly<ProfileRow>): Record<string, unknown> => ({
    id,
    name,
    provider_name,
    [profile.data]: data,
  });
  return {
    path: profile.path,
    name: profile.wrapper,
    argument: `${profile.wrapper}_`,
    createShape,
    updateShape: updateShape(createShape),
    guard: guarded(operatorOnly),
    find: (context) => findRow(profiles, profile.thing, context.param('id')),
    view,
    list: () => listOf(profile.collection, Array.from(profiles.all(), view)),
    create(values) {
      const provider = values['provider_name'] as string;
      mustBeEnabled(provider);
      return profiles.insert({
        id: newId(),
        name: values['name'] as string,
        provider_name: provider,
        data: values[profile.data] as string,
      });
    },
    update(row, values) {
      // Load balancers may have been created from the profile, so only its name can change.
      const isNameOnly = Object.keys(values).every((name) => name === 'name');
      if (!isNameOnly && offers.count('profile', row.id) > 0) throw inUse(profile.thing, row.id);
      const provider = values['provider_name'] as string | null | undefined;
      mustBeEnabled(provider ?? row.provider_name);
      return profiles.update(row.id, {
        ...(typeof values['name'] === 'string' && { name: values['name'] }),
        ...(typeof provider === 'string' && { provider_name: provider }),
        ...(typeof values[profile.data] === 'string' && { data: values[profile.data] as string }),
      });
    },
    delete(row) {
      if (offers.count('profile', row.id) > 0) throw inUse(profile.thing, row.id);
      profiles.delete(row.id);
    },
  };
}

function offerResource(kind: Kind, newId: () => string): OctaviaResource<OfferRow> {
  const { offer, offers, profiles, profileKey } = kind;
  const isFlavor = offer.wrapper === 'flavor';
  const createShape: Attributes = {
    name: { read: fields.text(255), mandatory: true, fixed: !isFlavor },
    description: { read: fields.text(255) },
    enabled: { read: fields.boolean, default: true },
    [profileKey]: { read: fields.uuid, mandatory: true, fixed: true },
  };
  const view = ({ id, name, description, enabled, profile_id }: Readonly<OfferRow>): Record<string, unknown> => ({
    ...(isFlavor && { id }),
    name,
    description,
    enabled,
    [profileKey]: profile_id,
  });
  return {
    path: offer.path,
    name: offer.wrapper,
    argument: `${offer.wrapper}_`,
    createShape,
    updateShape: updateShape(createShape),
    guard: guarded(({ caller }) => checkRead(caller, caller.projectId)),
    find(context) {
      const row = kind.find(context.param('id'));
      if (!row) throw notFound(offer.thing, context.param('id'));
      return row;
    },
    view,
    list(context) {
      const names = context.query.all('name');
      const found = [...offers.all()].filter(({ name }) => names.length === 0 || names.includes(name));
      return listOf(
        offer.collection,
        found.map((row) => pick(view(row), context)),
      );
    },
    create(values) {
      const name = values['name'] as string;
      const profileId = values[profileKey] as string;
      if (!profiles.has(profileId)) throw invalidOption(profileId, profileKey);
      if ([...offers.all()].some((each) => each.name === name)) {
        throw new Refusal(409, `A ${offer.wrapper} of ${name} already exists.`);
      }
      return offers.insert({
        id: newId(),
        name,
        description: (values['description'] as string | null | undefined) ?? '',
        enabled: values['enabled'] as boolean,
        profile_id: profileId,
      });
    },
    update(row, values) {
      return offers.update(row.id, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)));
    },
    delete(row, context) {
      if (kind.isUsed(row)) throw inUse(offer.thing, context.param('id'));
      offers.delete(row.id);
    },
  };
}

/** Answers a complete list. Lists of operators are short and not paged. */
function listOf(collection: string, items: readonly object[]): Answer {
  return { status: 200, body: { [collection]: items, [`${collection}_links`]: [] } };
}
