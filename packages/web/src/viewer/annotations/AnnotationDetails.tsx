import {
  annotationLimits,
  type Classification,
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
import { type OpenAnnotations, useStoreVersion } from './use-annotations.ts';

interface AnnotationDetailsProps {
  readonly open: OpenAnnotations;
  /** The classes of the dataset. */
  readonly offered: readonly AnnotationClass[];
}

/** Name, description, class and measurements of the selected annotation, and its history. */
export function AnnotationDetails({ open: { store }, offered }: AnnotationDetailsProps) {
  useStoreVersion(store);
  const [annotation, ...others] = store.selected();
  if (annotation === undefined || others.length > 0) return null;
  return (
    <Details
      key={annotation.id}
      store={store}
      annotation={annotation}
      offered={offered}
      isReadOnly={!store.canEdit(annotation)}
    />
  );
}

interface DetailsProps {
  readonly store: OpenAnnotations['store'];
  readonly annotation: Annotation;
  readonly offered: readonly AnnotationClass[];
  readonly isReadOnly: boolean;
}

/** Changes of others, and the state of saving, leave it as it is. */
const Details = memo(function Details({ store, annotation, offered, isReadOnly }: DetailsProps) {
  const { id, feature, revision } = annotation;
  const { properties, geometry } = feature;
  /** What is typed and not saved yet; null: the field shows the annotation as it is, also when another person changes it. */
  const [name, setName] = useState<string | null>(null);
  const [description, setDescription] = useState<string | null>(null);
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  // The search takes longer than the change itself in an outline of 50,000 vertices: the changed picture comes first.
  const searched = useWhenIdle(geometry);
  const crosses = useMemo(
    () => searched !== null && isArea(searched) && isSelfIntersecting(searched),
    [searched],
  );
  const repaired = () => (isArea(geometry) ? repairArea(geometry) : null);

  const saveText = (field: 'name' | 'description', typed: string | null) => {
    const value = typed?.trim();
    (field === 'name' ? setName : setDescription)(null);
    if (value === undefined || value === (properties[field] ?? '')) return;
    const { [field]: _before, ...rest } = properties;
    store.change([
      { id, feature: { ...feature, properties: { ...rest, ...(value !== '' && { [field]: value }) } } },
    ]);
  };
  const current = classNameOf(feature);
  const classify = (chosen: string) => {
    const found = offered.find((each) => each.name === chosen);
    const classification: Classification | null = found === undefined ? null : classificationOf(found);
    if (chosen !== current) store.change([{ id, feature: withClass(feature, classification) }]);
  };
  const repair = () => {
    const area = repaired();
    if (area !== null) store.change([{ id, feature: { ...feature, geometry: roundGeometry(area) } }]);
  };
  const names = [...new Set([...offered.map((each) => each.name), ...(current === null ? [] : [current])])];
  const measurements = Object.entries(properties.measurements ?? {});

  return (
    <section className={classes.details} aria-label={texts.details}>
      {crosses && (
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
          value={name ?? properties.name ?? ''}
          readOnly={isReadOnly}
          maxLength={annotationLimits.nameLength}
          onChange={(event) => setName(event.currentTarget.value)}
          onBlur={() => saveText('name', name)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') saveText('name', name);
          }}
        />
        <NativeSelect
          size="xs"
          label={texts.classOf}
          value={current ?? ''}
          disabled={isReadOnly}
          onChange={(event) => classify(event.currentTarget.value)}
          data={[{ value: '', label: texts.noClass }, ...names.map((value) => ({ value, label: value }))]}
        />
      </div>
      <Textarea
        size="xs"
        label={texts.description}
        value={description ?? properties.description ?? ''}
        readOnly={isReadOnly}
        rows={2}
        maxLength={annotationLimits.descriptionLength}
        onChange={(event) => setDescription(event.currentTarget.value)}
        onBlur={() => saveText('description', description)}
      />
      {measurements.length > 0 && (
        <dl className={classes.measurements} aria-label={texts.measurements}>
          {measurements.map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{Number.isFinite(value) ? formatNumber(Number(value.toPrecision(6))) : String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <Group justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          disabled={revision === null}
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
