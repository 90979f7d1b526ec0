import type { Classification } from '@lamina/annotations';
import type { AnnotationClass } from '@lamina/contract';
import { Kbd, UnstyledButton } from '@mantine/core';
import classes from './Annotations.module.css';
import { cssColor } from './annotation.ts';
import { texts } from './texts.ts';
import { type OpenAnnotations, useSessionValue } from './use-annotations.ts';

interface ClassPaletteProps {
  readonly openAnnotations: OpenAnnotations;
  readonly classes: readonly AnnotationClass[];
}

export function classificationOf({ name, color }: AnnotationClass): Classification {
  return { names: [name], color };
}

/** Buttons with the classes of the dataset. The chosen class is set on the selected annotations and on new ones. */
export function ClassPalette({ openAnnotations: { session }, classes: datasetClasses }: ClassPaletteProps) {
  const chosen = useSessionValue(session, ({ classification }) => classification?.names.join(': ') ?? null);
  return (
    <ul className={classes.palette} aria-label={texts.classes} data-shown-on="wide">
      <li>
        <UnstyledButton
          className={classes.classButton}
          aria-pressed={chosen === null}
          onClick={() => session.classify(null)}
        >
          <Kbd size="xs">0</Kbd>
          {texts.noClass}
        </UnstyledButton>
      </li>
      {datasetClasses.map((each) => (
        <li key={each.name}>
          <UnstyledButton
            className={classes.classButton}
            aria-pressed={chosen === each.name}
            onClick={() => session.classify(classificationOf(each))}
          >
            {each.shortcut !== null && <Kbd size="xs">{each.shortcut}</Kbd>}
            <span className={classes.swatch} style={{ background: cssColor(each.color) }} />
            {each.name}
          </UnstyledButton>
        </li>
      ))}
    </ul>
  );
}
