/** The position of each frame within the image, collected while the header of a DICOM file is parsed. */
import type { DataSet } from './data-set.ts';
import { corruptError } from './errors.ts';
import { type ElementSelection, valuesOf } from './read-data-set.ts';
import { tag } from './tags.ts';

/** Positions of all frames, in the order of the file. */
export interface FramePositions {
  /** Column and row of the frame's first pixel in the whole image; 1 is the first. */
  readonly columns: Int32Array;
  readonly rows: Int32Array;
  /** Height of the focal plane above the glass in µm; 0 when not stated. */
  readonly zOffsets: Float64Array;
  /** 1 for frames of the first optical path (a way to illuminate and filter), the only one displayed; 0 for other frames. */
  readonly isFirstPath: Uint8Array;
}

/** Elements of a frame's functional groups that contain its position. */
export const framePositionElements: ElementSelection = new Map([
  [tag.OpticalPathIdentificationSequence, { items: valuesOf([tag.OpticalPathIdentifier]) }],
  [
    tag.PlanePositionSlideSequence,
    {
      items: valuesOf([
        tag.ColumnPositionInTotalImagePixelMatrix,
        tag.RowPositionInTotalImagePixelMatrix,
        tag.ZOffsetInSlideCoordinateSystem,
      ]),
    },
  ],
]);

export interface PositionCollector {
  /** Adds the next frame, given its functional groups (the properties that the file states for each frame). */
  readonly add: (frameGroups: DataSet) => void;
  /** Returns the collected positions. @throws SlideError FILE_CORRUPT when fewer frames were added than claimed */
  finish(): FramePositions;
}

/** Returns the distinct heights (`zOffsets`) of the frames of the first optical path, in ascending order. */
export function zOffsetsIn({ zOffsets, isFirstPath }: FramePositions): readonly number[] {
  const distinctOffsets = new Set<number>();
  for (const [frame, zOffset] of zOffsets.entries())
    if (isFirstPath[frame] !== 0) distinctOffsets.add(zOffset);
  return [...distinctOffsets].sort((a, b) => a - b);
}

/**
 * Creates a collector. Its `add` must be called with the functional groups of each frame, in the order of the file.
 *
 * Source: DICOM PS3.3, C.8.12.6.1 (Plane Position (Slide)), C.8.12.5.1 (optical path identification).
 *
 * @param frames the number of frames that the file claims
 * @param firstPath first item of OpticalPathSequence; without it, every frame counts as a frame of the first path
 * @param shared functional groups (properties) that apply to all frames
 */
export function createPositionCollector(
  frames: number,
  firstPath: DataSet | undefined,
  shared: DataSet | undefined,
): PositionCollector {
  const positions = {
    columns: new Int32Array(frames),
    rows: new Int32Array(frames),
    zOffsets: new Float64Array(frames),
    isFirstPath: new Uint8Array(frames),
  };
  const firstPathId = firstPath?.text(tag.OpticalPathIdentifier) ?? null;
  const pathOf = (groups: DataSet | undefined) =>
    groups?.items(tag.OpticalPathIdentificationSequence)[0]?.text(tag.OpticalPathIdentifier) ?? null;
  const sharedPath = pathOf(shared);
  let added = 0;
  return {
    add(frameGroups) {
      if (added === frames) throw corruptError(`it describes more frames than the ${frames} that it claims`);
      const [position] = frameGroups.items(tag.PlanePositionSlideSequence);
      const column = position?.whole(tag.ColumnPositionInTotalImagePixelMatrix) ?? null;
      const row = position?.whole(tag.RowPositionInTotalImagePixelMatrix) ?? null;
      if (column === null || row === null) throw corruptError(`it states no position for frame ${added + 1}`);
      // A file that does not name its optical paths has only one.
      const path = pathOf(frameGroups) ?? sharedPath;
      const isFirstPath = path === null || firstPathId === null || path === firstPathId;
      positions.columns[added] = column;
      positions.rows[added] = row;
      positions.zOffsets[added] = position?.real(tag.ZOffsetInSlideCoordinateSystem) ?? 0;
      positions.isFirstPath[added] = isFirstPath ? 1 : 0;
      added++;
    },
    finish() {
      if (added < frames) throw corruptError(`it has positions of ${added} of its ${frames} frames`);
      return positions;
    },
  };
}
