import type { StandIn } from '../contract/index.ts';
import type { Piece, RenderOutput } from '../templates/output.ts';

/** Of what a server is, only its state matters to who gets a request; the rest tells how to speak to the real one. */
function withStandIn(piece: Piece, { address, port }: StandIn): Piece {
  if (piece.kind !== 'backend') return piece;
  const servers = piece.servers.map((server) => ({ ...server, address, port, keywords: [] }));
  return { ...piece, servers };
}

/** The same declarations with every server at another address, spoken to in plain. */
export function atStandIn(output: RenderOutput, standIn: StandIn): RenderOutput {
  return { ...output, pieces: output.pieces.map((piece) => withStandIn(piece, standIn)) };
}
