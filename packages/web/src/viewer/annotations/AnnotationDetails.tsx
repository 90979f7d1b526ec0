import {
  annotationLimits,
  type Classification,
  cleanLine,
  cleanText,
  isArea,
  isSelfIntersecting,
  repairArea,
} from '@lamina/annotations';
import type { AnnotationClass } from '@lamina/contract';
import { Alert, Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { memo, useMemo, useState } from 'react';
import { useWhenIdle } from '../../browser/use-when-idle.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import classes from './Annotations.module.css';
import { type Annotation, classNameOf, roundGeometry } from './annotation.ts';
import { classificationOf } from './ClassPalette.tsx';
import { withClass } from './drafts.ts';
import { HistoryDialog } from './HistoryDialog.tsx';
import { texts } from './texts.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';

/** Significant digits of the measurements that a program, such as QuPath, has stored with an annotation. */
const measurementDigits = 6;

interface AnnotationDetailsProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly datasetClasses: readonly AnnotationClass[];
}

/**
 * Shows the selected annotation: fields for its name, description and class (read-only without the right to edit), its
 * measurements, and a button for its history. Shows nothing unless exactly one annotation is selected.
 */
export function AnnotationDetails({ slideAnnotations: { store }, datasetClasses }: AnnotationDetailsProps) {
  useStoreVersion(store); // renders this component again after each change of the annotations
  const [annotation, ...others] = store.selected();
  if (annotation === undefined || others.length > 0) return null;
  return (
    <Details
      key={annotation.id}
      store={store}
      annotation={annotation}
      datasetClasses={datasetClasses}
      isReadOnly={!store.canEdit(annotation)}
    />
  );
}

interface DetailsProps {
  readonly store: SlideAnnotations['store'];
  readonly annotation: Annotation;
  readonly datasetClasses: readonly AnnotationClass[];
  /** Whether the user may not change the annotation. */
  readonly isReadOnly: boolean;
}

/** Memoised, so that React renders it again only when its annotation changes, not after each change of the store. */
const Details = memo(function Details({ store, annotation, datasetClasses, isReadOnly }: DetailsProps) {
  const { id, feature, revision } = annotation;
  const { properties, geometry } = feature;
  /** Typed text that is not saved yet; null while the field shows the current value of the annotation. */
  const [typedName, setTypedName] = useState<string | null>(null);
  const [typedDescription, setTypedDescription] = useState<string | null>(null);
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  // The check takes long for an outline of 50,000 vertices. After a change, it waits until the browser is idle.
  const geometryToCheck = useWhenIdle(geometry);
  const crossesItself = useMemo(
    () => geometryToCheck !== null && isArea(geometryToCheck) && isSelfIntersecting(geometryToCheck),
    [geometryToCheck],
  );

  const saveText = (field: 'name' | 'description', typed: string | null) => {
    // Removes characters that the server rejects: pasted text may contain them, such as the tab between two cells of a spreadsheet.
    const clean = field === 'name' ? cleanLine : cleanText;
    const newText = typed === null ? undefined : clean(typed).trim();
    const setTyped = field === 'name' ? setTypedName : setTypedDescription;
    setTyped(null); // the field shows the value of the annotation again
    if (newText === undefined || newText === (properties[field] ?? '')) return;
    const { [field]: _before, ...otherProperties } = properties; // an empty text removes the property
    store.change([
      {
        id,
        feature: {
          ...feature,
          properties: { ...otherProperties, ...(newText !== '' && { [field]: newText }) },
        },
      },
    ]);
  };
  const className = classNameOf(feature);
  const classify = (newClassName: string) => {
    const newClass = datasetClasses.find(({ name }) => name === newClassName);
    // The option `noClass` has the value '', which is the name of no class.
    const classification: Classification | null = newClass === undefined ? null : classificationOf(newClass);
    if (newClassName !== className) store.change([{ id, feature: withClass(feature, classification) }]);
  };
  const repair = () => {
    const area = isArea(geometry) ? repairArea(geometry) : null;
    if (area !== null) store.change([{ id, feature: { ...feature, geometry: roundGeometry(area) } }]);
  };
  /** The classes of the dataset, and the annotation's own class if the dataset does not have it. */
  const classNames = [
    ...new Set([...datasetClasses.map(({ name }) => name), ...(className === null ? [] : [className])]),
  ];
  const measurements = Object.entries(properties.measurements ?? {});

  return (
    <section className={classes.details} aria-label={texts.details}>
      {crossesItself && (
        <Alert color="yellow" p="xs">
          <Group justify="space-between">
            {texts.crossesItself}
            {!isReadOnly && (
              <Button size="compact-xs" variant="default" onClick={repair}>
                {texts.repair}
              </Button>
            )}
          </Group>
        </Alert>
      )}
      <div className={classes.pair}>
        <TextInput
          size="xs"
          label={texts.name}
          value={typedName ?? properties.name ?? ''}
          readOnly={isReadOnly}
          maxLength={annotationLimits.nameLength}
          onChange={(event) => setTypedName(event.currentTarget.value)}
          onBlur={() => saveText('name', typedName)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') saveText('name', typedName);
          }}
        />
        <NativeSelect
          size="xs"
          label={texts.classOf}
          value={className ?? ''}
          disabled={isReadOnly}
          onChange={(event) => classify(event.currentTarget.value)}
          data={[
            { value: '', label: texts.noClass },
            ...classNames.map((value) => ({ value, label: value })),
          ]}
        />
      </div>
      <Textarea
        size="xs"
        label={texts.description}
        value={typedDescription ?? properties.description ?? ''}
        readOnly={isReadOnly}
        rows={2}
        maxLength={annotationLimits.descriptionLength}
        onChange={(event) => setTypedDescription(event.currentTarget.value)}
        onBlur={() => saveText('description', typedDescription)}
      />
      {measurements.length > 0 && (
        <dl className={classes.measurements} aria-label={texts.measurements}>
          {measurements.map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                {Number.isFinite(value)
                  ? formatNumber(Number(value.toPrecision(measurementDigits)))
                  : String(value)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Group justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          disabled={revision === null} // only annotations that the server has acknowledged have a history
          onClick={() => setHistoryOpen(true)}
        >
          {texts.history}
        </Button>
      </Group>
      {isHistoryOpen && (
        <HistoryDialog
          annotation={annotation}
          onUse={isReadOnly ? null : (version) => store.change([{ id, feature: version }])}
          onClose={() => setHistoryOpen(false)}
        />
      )}
    </section>
  );
});
