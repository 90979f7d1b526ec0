/** Places the blood vessels and the ganglia (groups of nerve cells) of the colon wall. */
import { type Curve, pointOnCurve } from '../geometry/curve.ts';
import { between, type Random } from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import { createVessel, isInVessel, type Vessel } from '../structures/vessels.ts';
import {
  type ColonLayout,
  EPITHELIUM,
  emptyMucosaPosition,
  emptyWallPosition,
  type Ganglion,
  MUSCULARIS_MUCOSAE_THICKNESS,
  OUTER_MUSCLE_END,
  PLEXUS_END,
  PLEXUS_START,
} from './colon-wall.ts';

/** How many random vessels are tried in the wall and in the mucosa; those that do not fit are discarded. */
const WALL_ATTEMPTS = 560;
const MUCOSA_ATTEMPTS = 9000;
/** Side of the squares of the spatial indexes, pixels. */
const INDEX_SQUARE = 256;

/**
 * Places random vessels where they fit: first in the submucosa and the subserosa (the layers inside and outside the
 * muscle coat), then small ones in the mucosa (the inner lining). Sizes are pixels and follow histology; the numbers of
 * attempts are chosen by eye, so that the tissue looks neither empty nor full. `wall` is the thickness of a vessel's
 * wall, `filled` the share of its inner space that contains red blood cells.
 */
// oxlint-disable-next-line lamina/max-own-lines -- the order of random numbers determines the slide
export function placeVessels(
  random: Random,
  layout: Pick<
    ColonLayout,
    'locate' | 'shiftAt' | 'locateInMucosa' | 'follicleDepthRatio' | 'layerDirection' | 'glandIndex'
  >,
): SpatialIndex<Vessel> {
  const index = new SpatialIndex<Vessel>(INDEX_SQUARE);
  const placed: Vessel[] = [];
  const position = emptyWallPosition();
  const mucosa = emptyMucosaPosition();
  const shift = { x: 0, y: 0 };
  const addUnlessOverlapping = (vessel: Vessel) => {
    const { x, y, reach } = vessel;
    if (placed.some((other) => isInVessel(other, x, y, reach))) return;
    placed.push(vessel);
    index.add(vessel, x - reach, y - reach, x + reach, y + reach);
  };

  for (let attempt = 0; attempt < WALL_ATTEMPTS; attempt++) {
    // Anywhere in the strip, not close to its ends.
    const x = between(random, 1300, 19200);
    const y = between(random, 6000, 14600);
    /** From 0 (smallest) to 1; the square makes small vessels frequent. */
    const size = random() ** 2;
    const isArtery = random() < 0.42;
    const long = isArtery ? 22 + 80 * size : 34 + 230 * size;
    const vessel = createVessel({
      kind: isArtery ? 'artery' : 'vein',
      seed: Math.floor(random() * 1e6),
      x,
      y,
      long,
      short: long * between(random, isArtery ? 0.6 : 0.28, isArtery ? 0.95 : 0.6),
      angle: layout.layerDirection(x, y) + between(random, -0.5, 0.5),
      wall: isArtery ? 22 + long * between(random, 0.35, 0.65) : 7 + long * between(random, 0.06, 0.14),
      filled: isArtery ? between(random, 0, 0.55) : between(random, 0.25, 0.95),
    });
    /** Minimum distance of the centre from the borders of the layer. */
    const clearance = vessel.reach + 20;
    layout.locate(x, y, position);
    const isInSubmucosa =
      position.mucosaDepth > MUSCULARIS_MUCOSAE_THICKNESS + clearance && position.muscleDepth < -clearance;
    const isInSubserosa =
      position.muscleDepth > OUTER_MUSCLE_END + 60 + clearance && position.distanceFromEdge > clearance + 30;
    if (
      (isInSubmucosa || isInSubserosa) &&
      position.distanceFromEdge > clearance &&
      layout.follicleDepthRatio(x, y) < -0.5 // far from lymph follicles
    )
      addUnlessOverlapping(vessel);
  }

  for (let attempt = 0; attempt < MUCOSA_ATTEMPTS; attempt++) {
    // Anywhere in the biopsies and in the mucosa of the strip.
    const x = between(random, 700, 19800);
    const y = between(random, 900, 10800);
    layout.locate(x, y, position);
    // Capillaries, drawn as small veins, keep away from edges, surface, muscle, follicles and epithelium.
    if (position.distanceFromEdge < 80 || position.surfaceDepth < 110 || position.mucosaDepth > -30) continue;
    if (layout.follicleDepthRatio(x, y) > -0.15) continue;
    layout.shiftAt(x, y, shift);
    layout.locateInMucosa(x + shift.x, y + shift.y, position, layout.glandIndex.near(x, y), mucosa);
    if (mucosa.depth < EPITHELIUM + 22) continue;
    addUnlessOverlapping(
      createVessel({
        kind: 'vein',
        seed: Math.floor(random() * 1e6),
        x,
        y,
        long: between(random, 14, 26),
        short: between(random, 8, 13),
        angle: layout.layerDirection(x, y) + Math.PI / 2 + between(random, -0.7, 0.7),
        wall: 3,
        filled: between(random, 0.35, 1),
      }),
    );
  }
  return index;
}

/** Places ganglia between the two layers of muscle. @param muscleBorder inner border of the muscle coat */
export function placeGanglia(random: Random, muscleBorder: Curve): SpatialIndex<Ganglion> {
  const index = new SpatialIndex<Ganglion>(INDEX_SQUARE);
  for (let x = 1500; x < 19000; x += between(random, 520, 1300)) {
    const { y, downX, downY } = pointOnCurve(muscleBorder, x);
    const depth = (PLEXUS_START + PLEXUS_END) / 2; // below the inner border of the muscle coat
    const ganglion = {
      seed: Math.floor(random() * 1e6),
      x: x + downX * depth,
      y: y + downY * depth,
      long: between(random, 120, 280),
      short: between(random, 42, 66),
      angle: Math.atan2(-downX, downY) + between(random, -0.1, 0.1),
    };
    const reach = ganglion.long * 1.2; // noise enlarges the painted ellipse by less than 20 %
    index.add(ganglion, ganglion.x - reach, ganglion.y - reach, ganglion.x + reach, ganglion.y + reach);
  }
  return index;
}
