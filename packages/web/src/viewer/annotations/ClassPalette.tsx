import type { Classification } from '@lamina/annotations';
import type { AnnotationClass } from '@lamina/contract';
import { Kbd, UnstyledButton } from '@mantine/core';
import classes from './Annotations.module.css';
import { cssColor } from './annotation.ts';
import { texts } from './texts.ts';
import { type SlideAnnotations, useSessionValue } from './use-annotations.ts';

interface ClassPaletteProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly classes: readonly AnnotationClass[];
}

/** Converts a class of the dataset to the classification of a GeoJSON feature. */
export function classificationOf({ name, color }: AnnotationClass): Classification {
  return { names: [name], color };
}

/** A button for each annotation class of the dataset. A click gives the class to the selected annotations and to new ones. */
export function ClassPalette({ slideAnnotations: { session }, classes: datasetClasses }: ClassPaletteProps) {
  const chosenClassName = useSessionValue(
    session, // the state of drawing: tool, class, draft (unfinished shape) and brush
    ({ classification }) => classification?.names.join(': ') ?? null, // such as `Tumor: Positive` for a subclass
  );
  return (
    // `data-shown-on="wide"`: phones hide the palette until the user shows all tools (SlideViewer.module.css).
    <ul className={classes.palette} aria-label={texts.classes} data-shown-on="wide">
      <li>
        <UnstyledButton
          className={classes.classButton}
          aria-pressed={chosenClassName === null}
          onClick={() => session.classify(null)}
        >
          <Kbd size="xs">0</Kbd>
          {texts.noClass}
        </UnstyledButton>
      </li>
      {datasetClasses.map((datasetClass) => (
        <li key={datasetClass.name}>
          <UnstyledButton
            className={classes.classButton}
            aria-pressed={chosenClassName === datasetClass.name}
            onClick={() => session.classify(classificationOf(datasetClass))}
          >
            {datasetClass.shortcut !== null && <Kbd size="xs">{datasetClass.shortcut}</Kbd>}
            <span className={classes.swatch} style={{ background: cssColor(datasetClass.color) }} />
            {datasetClass.name}
          </UnstyledButton>
        </li>
      ))}
    </ul>
  );
}
