import { type ManagedCounts, ManagedStatus } from '@lamina/contract';
import { NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useDatasets } from '../../api/datasets.ts';
import type { SlideFilter } from '../../api/slides.ts';
import classes from './SlideManagement.module.css';
import { statusLabels, texts } from './texts.ts';

interface SlideFiltersProps {
  readonly status: ManagedStatus;
  readonly filter: SlideFilter;
  /** Undefined until they are known. */
  readonly counts: ManagedCounts | undefined;
  readonly onStatus: (status: ManagedStatus) => void;
  readonly onFilter: (filter: SlideFilter) => void;
}

/** Nobody types faster than that and wants to see what comes in between. */
const searchAfterMs = 250;
/** Values of the choice of a dataset: a name may be any text, and so stands behind a mark. */
const [anyDataset, noDataset, named] = ['any', 'none', 'named:'];

export function SlideFilters({ status, filter, counts, onStatus, onFilter }: SlideFiltersProps) {
  const [typed, setTyped] = useState(filter.search);
  const datasets = useDatasets().data ?? [];
  const search = useDebouncedCallback(
    (text: string) => onFilter({ ...filter, search: text.trim() }),
    searchAfterMs,
  );
  const { dataset } = filter;

  return (
    <div className={classes.filters}>
      <TextInput
        type="search"
        label={texts.search}
        placeholder={texts.searchHint}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          search(event.currentTarget.value);
        }}
      />
      <NativeSelect
        size="md"
        label={texts.dataset}
        data={[
          { value: anyDataset, label: texts.anyDataset },
          ...datasets.map(({ name }) => ({ value: named + name, label: name })),
          { value: noDataset, label: texts.noDataset },
        ]}
        value={dataset === null ? anyDataset : dataset === '' ? noDataset : named + dataset}
        onChange={({ currentTarget: { value } }) => {
          const chosen = value === anyDataset ? null : value === noDataset ? '' : value.slice(named.length);
          onFilter({ search: typed.trim(), dataset: chosen });
        }}
      />
      <NativeSelect
        size="md"
        label={texts.status}
        data={ManagedStatus.options.map((value) => ({
          value,
          label:
            counts === undefined ? statusLabels[value] : texts.ofMany(statusLabels[value], counts[value]),
        }))}
        value={status}
        onChange={({ currentTarget: { value } }) => onStatus(ManagedStatus.parse(value))}
      />
    </div>
  );
}
