import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import type { Table } from '../core/state/table.ts';
import { checkRead, isOperator } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape } from './body/shape.ts';
import { pick } from './listing.ts';
import type { Octavia } from './octavia.ts';
import { providers } from './providers.ts';
import { forbidden, inUse, notFound, type ThingName } from './refusals.ts';
import type { OfferRow, ProfileRow } from './rows.ts';

/** Flavors and availability zones work alike: operators make profiles and offers, members choose among the offers. */
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
    /** attribute that holds the JSON */
    readonly data: string;
  };
  /** attribute of the offer that names its profile */
  readonly profileKey: string;
  readonly offers: Table<OfferRow>;
  readonly profiles: Table<ProfileRow>;
  /** flavors are known by id, zones by name */
  find(key: string): Readonly<OfferRow> | undefined;
  isUsed(offer: Readonly<OfferRow>): boolean;
}

/** A flavor with the provider it is for. */
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
    ...profileRoutes(kind, base, newId),
    ...listedOffers(kind, base, newId),
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

function profileRoutes({ profile, profiles, offers }: Kind, base: string, newId: () => string): Route[] {
  const path = `${base}/${profile.path}`;
  const shape: Shape = {
    name: { read: fields.text(255), mandatory: true },
    provider_name: { read: fields.text(255), mandatory: true },
    [profile.data]: { read: fields.text(4096), mandatory: true },
  };
  const changes: Shape = Object.fromEntries(Object.entries(shape).map(([name, { read }]) => [name, { read }]));
  const view = ({ id, name, provider_name, data }: Readonly<ProfileRow>): Record<string, unknown> => ({
    id,
    name,
    provider_name,
    [profile.data]: data,
  });
  const find = (id: string): Readonly<ProfileRow> => {
    const row = profiles.get(id);
    if (!row) throw notFound(profile.thing, id);
    return row;
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        operatorOnly(context);
        const items = Array.from(profiles.all(), view);
        return { status: 200, body: { [profile.collection]: items, [`${profile.collection}_links`]: [] } };
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        operatorOnly(context);
        const values = readBody(context, { argument: `${profile.wrapper}_`, wrapper: profile.wrapper, shape });
        const provider = values['provider_name'] as string;
        mustBeEnabled(provider);
        const made = profiles.insert({
          id: newId(),
          name: values['name'] as string,
          provider_name: provider,
          data: values[profile.data] as string,
        });
        return { status: 201, body: { [profile.wrapper]: view(made) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        operatorOnly(context);
        return { status: 200, body: { [profile.wrapper]: pick(view(find(context.param('id'))), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        operatorOnly(context);
        const values = readBody(context, { argument: `${profile.wrapper}_`, wrapper: profile.wrapper, shape: changes });
        const row = find(context.param('id'));
        // Load balancers may have been made by it: only its name is free.
        const isNameOnly = Object.keys(values).every((name) => name === 'name');
        if (!isNameOnly && offers.count('profile', row.id) > 0) throw inUse(profile.thing, row.id);
        const provider = values['provider_name'] as string | null | undefined;
        mustBeEnabled(provider ?? row.provider_name);
        const changed = profiles.update(row.id, {
          ...(typeof values['name'] === 'string' && { name: values['name'] }),
          ...(typeof provider === 'string' && { provider_name: provider }),
          ...(typeof values[profile.data] === 'string' && { data: values[profile.data] as string }),
        });
        return { status: 200, body: { [profile.wrapper]: view(changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        operatorOnly(context);
        const row = find(context.param('id'));
        if (offers.count('profile', row.id) > 0) throw inUse(profile.thing, row.id);
        profiles.delete(row.id);
        return { status: 204 };
      },
    },
  ];
}

function listedOffers(kind: Kind, base: string, newId: () => string): Route[] {
  const { offer, offers, profiles, profileKey } = kind;
  const path = `${base}/${offer.path}`;
  const isFlavor = offer.wrapper === 'flavor';
  const createShape: Shape = {
    name: { read: fields.text(255), mandatory: true },
    description: { read: fields.text(255) },
    enabled: { read: fields.boolean, default: true },
    [profileKey]: { read: fields.uuid, mandatory: true },
  };
  const updateShape: Shape = {
    ...(isFlavor && { name: { read: fields.text(255) } }),
    description: { read: fields.text(255) },
    enabled: { read: fields.boolean },
  };
  const view = ({ id, name, description, enabled, profile_id }: Readonly<OfferRow>): Record<string, unknown> => ({
    ...(isFlavor && { id }),
    name,
    description,
    enabled,
    [profileKey]: profile_id,
  });
  const find = (key: string): Readonly<OfferRow> => {
    const row = kind.find(key);
    if (!row) throw notFound(offer.thing, key);
    return row;
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        checkRead(context.caller, context.caller.projectId);
        const names = context.query.all('name');
        const found = [...offers.all()].filter(({ name }) => names.length === 0 || names.includes(name));
        const items = found.map((row) => pick(view(row), context));
        return { status: 200, body: { [offer.collection]: items, [`${offer.collection}_links`]: [] } };
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        operatorOnly(context);
        const values = readBody(context, { argument: `${offer.wrapper}_`, wrapper: offer.wrapper, shape: createShape });
        const name = values['name'] as string;
        const profileId = values[profileKey] as string;
        if (!profiles.has(profileId)) throw new Refusal(400, `${profileId} is not a valid option for ${profileKey}`);
        if ([...offers.all()].some((each) => each.name === name)) {
          throw new Refusal(409, `A ${offer.wrapper} of ${name} already exists.`);
        }
        const made = offers.insert({
          id: newId(),
          name,
          description: (values['description'] as string | null | undefined) ?? '',
          enabled: values['enabled'] as boolean,
          profile_id: profileId,
        });
        return { status: 201, body: { [offer.wrapper]: view(made) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        checkRead(context.caller, context.caller.projectId);
        return { status: 200, body: { [offer.wrapper]: pick(view(find(context.param('id'))), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        operatorOnly(context);
        const values = readBody(context, { argument: `${offer.wrapper}_`, wrapper: offer.wrapper, shape: updateShape });
        const row = find(context.param('id'));
        const changes = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
        return { status: 200, body: { [offer.wrapper]: view(offers.update(row.id, changes)) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        operatorOnly(context);
        const row = find(context.param('id'));
        if (kind.isUsed(row)) throw inUse(offer.thing, context.param('id'));
        offers.delete(row.id);
        return { status: 204 };
      },
    },
  ];
}
