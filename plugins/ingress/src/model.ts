import { Refused, type GlobalInput, type KubeObject, type WatchView } from '@haptic/core/contract';
import { anyHost, objectRef, sameItems, type Listener, type Route, type RouteWarning } from '@haptic/routing';
import { z } from 'zod';
import { Destinations, unavailableDestinations } from './destination.ts';
import { isOwn, ownClasses } from './ingress-class.ts';
import { readIngress, type IngressBackend, type IngressSpec } from './ingress-object.ts';
import { translate } from './translate.ts';

/** An Ingress of this controller, as templates see it. */
export interface IngressModel {
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject;
  readonly annotations: Readonly<Record<string, string>>;
  readonly hosts: readonly string[];
  readonly tls: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
  readonly routes: readonly Route[];
}

/** All Ingresses of this controller; unchanged ones are the identical objects of the render before. */
export interface IngressModels {
  readonly ingresses: readonly IngressModel[];
  /** Of Ingresses in quarantine: each answers 503. Templates see nothing of them. */
  readonly unavailable: readonly Route[];
  readonly listeners: readonly Listener[];
  readonly warnings: readonly RouteWarning[];
}

interface Kept {
  readonly listeners: readonly Listener[];
  /** All Services, as they were looked at last: the identical view needs no second look. */
  readonly watch: WatchView;
  /** The Services that the backends name. */
  readonly services: readonly (KubeObject | undefined)[];
  /** How the backends resolved: an Ingress is translated again when another answer comes out. */
  readonly resolved: string;
  readonly model: IngressModel;
  readonly warnings: readonly RouteWarning[];
}

const settingsSchema = z.object({ listeners: z.array(z.string()).default([]) }).default({ listeners: [] });

/** Reads Ingresses into the model. Depends on its input alone; what is kept only saves work. */
export class IngressReader {
  readonly #controllerName: string;
  readonly #kept = new WeakMap<KubeObject, Kept>();
  readonly #unavailable = new WeakMap<
    KubeObject,
    Pick<Kept, 'listeners'> & { readonly routes: readonly Route[] }
  >();
  #listeners: readonly Listener[] = [];
  #last: { readonly input: GlobalInput; readonly models: IngressModels } | undefined;

  constructor(controllerName: string) {
    this.#controllerName = controllerName;
  }

  /** A render asks twice: for the routes and for the templates' global. */
  read(input: GlobalInput): IngressModels {
    if (this.#last?.input.view !== input.view || this.#last.input.settings !== input.settings) {
      this.#last = { input, models: this.#read(input) };
    }
    return this.#last.models;
  }

  #read({ view, settings }: GlobalInput): IngressModels {
    const listeners = this.#listenersOf(settings['ingress']);
    // Without the library that watches them there are no Ingresses to serve.
    if (!view.watches.includes('ingresses'))
      return { ingresses: [], unavailable: [], listeners, warnings: [] };
    const classes = ownClasses(view, this.#controllerName);
    const services = view.watch('services');
    const ingresses: IngressModel[] = [];
    const warnings: RouteWarning[] = [];
    for (const object of view.watch('ingresses').list()) {
      if (!isOwn(object, classes)) continue;
      const read = readIngress(object);
      if (read.problem !== undefined) {
        warnings.push({ object: objectRef(object), reason: 'IngressInvalid', message: read.problem });
        continue;
      }
      const kept = this.#model(object, read.spec, listeners, services);
      ingresses.push(kept.model);
      warnings.push(...kept.warnings);
    }
    const held = view.watch('ingresses').unavailable();
    const unavailable = held
      .filter((object) => isOwn(object, classes))
      .flatMap((object) => this.#unavailableRoutes(object, listeners));
    return { ingresses, unavailable, listeners, warnings };
  }

  #unavailableRoutes(object: KubeObject, listeners: readonly Listener[]): readonly Route[] {
    const kept = this.#unavailable.get(object);
    if (kept?.listeners === listeners) return kept.routes;
    const { spec } = readIngress(object);
    const routes =
      spec === undefined ? [] : translate(object, spec, listeners, unavailableDestinations).routes;
    this.#unavailable.set(object, { listeners, routes });
    return routes;
  }

  #model(object: KubeObject, spec: IngressSpec, listeners: readonly Listener[], watch: WatchView): Kept {
    const kept = this.#kept.get(object);
    const before = kept?.listeners === listeners ? kept : undefined;
    if (before?.watch === watch) return before;
    const now = translated(object, spec, { listeners, watch }, before);
    this.#kept.set(object, now);
    return now;
  }

  /** The identical list while the settings stay the same. */
  #listenersOf(settings: unknown): readonly Listener[] {
    const parsed = settingsSchema.safeParse(settings);
    if (!parsed.success) {
      throw new Refused([
        { where: 'settings.ingress.listeners', message: 'expected a list of port keys such as ["i80"]' },
      ]);
    }
    const { listeners: keys } = parsed.data;
    const same =
      keys.length === this.#listeners.length &&
      keys.every((key, index) => key === this.#listeners[index]?.portKey);
    if (!same) {
      this.#listeners = keys.map((portKey) => {
        return Object.freeze({ portKey, host: anyHost, fallThrough: 'namespace' as const });
      });
    }
    return this.#listeners;
  }
}

const backendLists = new WeakMap<IngressSpec, readonly IngressBackend[]>();

function backendsOf(spec: IngressSpec): readonly IngressBackend[] {
  let backends = backendLists.get(spec);
  if (backends === undefined) {
    const paths = (spec.rules ?? []).flatMap(({ http }) => http?.paths ?? []);
    backends = [
      ...paths.map(({ backend }) => backend),
      ...(spec.defaultBackend ? [spec.defaultBackend] : []),
    ];
    backendLists.set(spec, backends);
  }
  return backends;
}

/** Translates again only when one of the Services changed in a way that matters. */
function translated(
  object: KubeObject,
  spec: IngressSpec,
  { listeners, watch }: Pick<Kept, 'listeners' | 'watch'>,
  before: Kept | undefined,
): Kept {
  const namespace = object.metadata.namespace ?? '';
  const backends = backendsOf(spec);
  const services = backends.map(({ service }) => (service ? watch.get(namespace, service.name) : undefined));
  if (before !== undefined && sameItems(before.services, services)) return { ...before, watch };
  const destinations = new Destinations(namespace, watch);
  const resolved = JSON.stringify(backends.map((backend) => destinations.resolve(backend)));
  if (before?.resolved === resolved) return { ...before, watch, services };
  return { listeners, watch, services, resolved, ...modelOf(object, spec, listeners, destinations) };
}

function modelOf(
  object: KubeObject,
  spec: IngressSpec,
  listeners: readonly Listener[],
  destinations: Destinations,
): Pick<Kept, 'model' | 'warnings'> {
  const { routes, warnings } = translate(object, spec, listeners, destinations);
  const { namespace = '', name, annotations = {} } = object.metadata;
  const hosts = [...new Set((spec.rules ?? []).flatMap(({ host }) => host ?? []))];
  const tls = (spec.tls ?? []).map(({ hosts, secretName }) => {
    return { hosts: hosts ?? [], secretName: secretName ?? '' };
  });
  return { model: { namespace, name, object, annotations, hosts, tls, routes }, warnings };
}
