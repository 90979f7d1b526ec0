import { type AnnotationFeature, boundsOf, type Geometry, isArea, pathsOf } from '@lamina/annotations';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { chosenLanguageOr } from '../../language/language.ts';
import classes from './Annotations.module.css';
import { colorOf, cssColor, readFeature } from './annotation.ts';
import type { Conflict } from './change-queue.ts';
import { descriptionOf } from './description-of.ts';
import { texts } from './texts.ts';
import { type SlideAnnotations, useStoreValue } from './use-annotations.ts';

/** Shows both versions of an annotation that two users have changed at the same time, and asks which to keep. */
export function ConflictDialog({
  slideAnnotations: { store },
}: {
  readonly slideAnnotations: SlideAnnotations;
}) {
  const conflict = useStoreValue(store, (state) => state.conflict); // the dialog shows one conflict at a time
  return (
    <Modal
      opened={conflict !== undefined}
      // The dialog cannot be closed: the user must choose a version.
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={texts.conflictTitle}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
    >
      {conflict !== undefined && (
        <Versions conflict={conflict} onKeep={(keep) => store.resolve(conflict, keep)} />
      )}
    </Modal>
  );
}

interface VersionsProps {
  readonly conflict: Conflict;
  readonly onKeep: (keep: 'mine' | 'theirs') => void;
}

function Versions({ conflict: { mine, theirs }, onKeep }: VersionsProps) {
  // `mine` is the change of this user; its feature is null for a deletion. `theirs` is the feature on the server. After
  // a deletion on the server, `theirs` has no geometry, and `readFeature` returns null.
  const myVersion = mine.feature === null ? null : readFeature(mine.feature);
  const theirVersion = readFeature(theirs);
  const viewBox = viewBoxOf([myVersion, theirVersion]);
  return (
    <Stack>
      <Text size="sm">{texts.conflictText}</Text>
      <div className={classes.versions}>
        <Version title={texts.mine} feature={myVersion} viewBox={viewBox} />
        <Version title={texts.theirs} feature={theirVersion} viewBox={viewBox} />
      </div>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => onKeep('theirs')}>
          {texts.keepTheirs}
        </Button>
        <Button onClick={() => onKeep('mine')}>{texts.keepMine}</Button>
      </Group>
    </Stack>
  );
}

interface VersionProps {
  readonly title: string;
  /** Null when this version is a deletion. */
  readonly feature: AnnotationFeature | null;
  readonly viewBox: string;
}

function Version({ title, feature, viewBox }: VersionProps) {
  return (
    <figure className={classes.version}>
      <figcaption>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm">{feature === null ? texts.deletedVersion : descriptionOf(feature)}</Text>
      </figcaption>
      <svg viewBox={viewBox} aria-hidden="true">
        {feature !== null && (
          <path
            d={svgPath(feature.geometry)}
            fill="none"
            stroke={cssColor(colorOf(feature))}
            strokeWidth="2"
            strokeLinecap="round"
            vectorEffect="non-scaling-stroke"
          />
        )}
      </svg>
    </figure>
  );
}

/** Returns the SVG view box that contains both versions with a margin, in image pixels. */
function viewBoxOf(versions: readonly (AnnotationFeature | null)[]): string {
  const allBounds = versions.flatMap((version) => (version === null ? [] : boundsOf(version.geometry)));
  if (allBounds.length === 0) return '0 0 1 1'; // both versions are deletions
  const minX = Math.min(...allBounds.map((bounds) => bounds.minX));
  const minY = Math.min(...allBounds.map((bounds) => bounds.minY));
  const width = Math.max(1, Math.max(...allBounds.map((bounds) => bounds.maxX)) - minX);
  const height = Math.max(1, Math.max(...allBounds.map((bounds) => bounds.maxY)) - minY);
  const margin = Math.max(width, height) / 10; // a tenth of the longer side
  return `${minX - margin} ${minY - margin} ${width + 2 * margin} ${height + 2 * margin}`;
}

/** Returns the `d` attribute of an SVG path, in image pixels. */
function svgPath(geometry: Geometry): string {
  // Points have no lines between them: each position is a path of its own.
  const paths =
    geometry.type === 'MultiPoint' ? geometry.coordinates.map((point) => [point]) : pathsOf(geometry);
  return paths
    .map((path) => {
      const [first, ...others] = path.map(([x, y]) => `${x} ${y}`);
      // A single position is drawn as a very short line: SVG does not draw lines of length 0.
      const line = others.length === 0 ? ' l0.01 0' : others.map((position) => ` L${position}`).join('');
      return `M${first ?? '0 0'}${line}${isArea(geometry) ? 'Z' : ''}`;
    })
    .join('');
}
