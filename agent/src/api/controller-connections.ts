import type { X509Certificate } from 'node:crypto';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock, Log } from '@haptic/core/contract';
import { hasName, sameAuthorities, type Credentials, type FollowedCredentials } from '@haptic/core/tls';
import { contextOptions } from './tls-options.ts';

export interface ConnectionFacts {
  readonly credentials: FollowedCredentials;
  /** The DNS name that tells a controller's certificate from an agent's. */
  readonly controllerName: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  /** Told of each handshake that failed. */
  readonly refused: () => void;
}

interface Peer {
  readonly certificate: X509Certificate | undefined;
  /** With what it was verified. */
  readonly verifiedBy: Credentials;
}

/** How long a request may still take on a connection whose peer was verified by authorities of before, milliseconds. */
const GRACE_MS = 10_000;
/** Between two lines of the log about the same reason, milliseconds. */
const QUIET_MS = 60_000;

/**
 * Who is at the other ends of the TLS server's connections. Node verifies a peer when a connection begins and never again, so
 * when other authorities are trusted from now on, every connection of before has to begin anew.
 */
export class ControllerConnections {
  readonly #facts: ConnectionFacts;
  readonly #server: Server;
  readonly #peers = new Map<TLSSocket, Peer>();
  /** Connections whose handshake is not over, by the other side's address. */
  readonly #begun = new Map<string, { readonly socket: Socket; readonly verifiedBy: Credentials }>();
  readonly #logged = new Map<string, number>();

  constructor(server: Server, facts: ConnectionFacts) {
    this.#server = server;
    this.#facts = facts;
    server.on('connection', (socket: Socket) => this.#begin(socket));
    server.on('secureConnection', (socket: TLSSocket) => this.#add(socket));
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) =>
      this.#refuse(error, socket),
    );
    const stop = facts.credentials.onChange((next, before) => this.#change(next, before));
    facts.signal.addEventListener('abort', stop, { once: true });
  }

  /** Verified by authorities that are not those of now: nothing may come from it any more. */
  isStale(socket: TLSSocket): boolean {
    const peer = this.#peers.get(socket);
    return peer === undefined || !sameAuthorities(peer.verifiedBy, this.#facts.credentials.current);
  }

  /** Why the peer is no controller; undefined when it is one. */
  problem(socket: TLSSocket): string | undefined {
    const { controllerName, clock } = this.#facts;
    const certificate = this.#peers.get(socket)?.certificate;
    if (certificate === undefined) return 'expected a client certificate';
    if (!hasName(certificate, controllerName))
      return `expected a client certificate with the DNS name "${controllerName}", this one has ${certificate.subjectAltName ?? 'no names'}`;
    if (certificate.validToDate.getTime() < clock.wall()) return 'the client certificate has expired';
    return undefined;
  }

  #begin(socket: Socket): void {
    const key = addressOf(socket);
    this.#begun.set(key, { socket, verifiedBy: this.#facts.credentials.current });
    socket.once('close', () => {
      if (this.#begun.get(key)?.socket === socket) this.#begun.delete(key);
    });
  }

  #add(socket: TLSSocket): void {
    const begun = this.#begun.get(addressOf(socket));
    // It has gone already.
    if (begun === undefined) return void socket.destroy();
    this.#peers.set(socket, { certificate: socket.getPeerX509Certificate(), verifiedBy: begun.verifiedBy });
    socket.once('close', () => this.#peers.delete(socket));
  }

  #change(next: Credentials, before: Credentials): void {
    this.#server.setSecureContext(contextOptions(next));
    if (sameAuthorities(next, before)) return;
    this.#server.closeIdleConnections();
    void this.#endStale();
  }

  async #endStale(): Promise<void> {
    const { clock, log, signal } = this.#facts;
    await clock.sleep(GRACE_MS, signal).catch(() => {});
    const stale = [...this.#peers.keys()].filter((socket) => this.isStale(socket));
    for (const socket of stale) socket.destroy();
    if (stale.length > 0)
      log.warn({ connections: stale.length }, 'ended connections of authorities of before');
  }

  /** A scanner must not fill the log, but who set up certificates wrongly must find the reason there. */
  #refuse(error: NodeJS.ErrnoException, socket: TLSSocket): void {
    const { clock, log, refused } = this.#facts;
    refused();
    const reason = String(socket.authorizationError ?? error.code ?? 'unknown');
    const last = this.#logged.get(reason);
    if (last !== undefined && clock.now() - last < QUIET_MS) return;
    this.#logged.set(reason, clock.now());
    log.warn({ reason, from: socket.remoteAddress }, 'refused a TLS connection');
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
