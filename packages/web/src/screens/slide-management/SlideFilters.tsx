import { type ManagedCounts, ManagedStatus } from '@lamina/contract';
import { NativeSelect } from '@mantine/core';
import { useDatasets } from '../../api/datasets.ts';
import type { SlideFilter } from '../../api/slides.ts';
import { ListToolbar } from '../../components/ListToolbar.tsx';
import { statusLabels, texts } from './texts.ts';

interface SlideFiltersProps {
  readonly status: ManagedStatus;
  readonly filter: SlideFilter;
  /** Number of slides per status; undefined until they are loaded. */
  readonly counts: ManagedCounts | undefined;
  /** Sentence with the number of loaded slides and of matching slides; null until they are loaded. */
  readonly countText: string | null;
  readonly onChange: (status: ManagedStatus, filter: SlideFilter) => void;
}

/** Option values of the dataset field. The prefix of names distinguishes a dataset called "any" from the option for all datasets. */
const anyDataset = 'any';
const noDataset = 'none';
const namePrefix = 'named:';

/** Search and filters above the list of slides: dataset, and status such as "ready" or "hidden from members". */
export function SlideFilters({ status, filter, counts, countText, onChange }: SlideFiltersProps) {
  const datasets = useDatasets().data ?? [];
  const { search, dataset } = filter;
  const names = datasets.map(({ name }) => name);
  // The field needs an option for the chosen dataset; otherwise it would show "all datasets". `names` lacks the chosen dataset while the
  // datasets are being loaded, and when the dataset has no slides.
  const offeredNames =
    dataset === null || dataset === '' || names.includes(dataset) ? names : [...names, dataset];
  // 'listed' is the default status: the slides that are neither missing nor removed.
  const isFiltered = search !== '' || dataset !== null || status !== 'listed';

  return (
    <ListToolbar
      searchLabel={texts.search}
      searchHint={texts.searchHint}
      search={search}
      onSearch={(text) => onChange(status, { ...filter, search: text })}
      countText={countText}
      onClear={isFiltered ? () => onChange('listed', { search: '', dataset: null }) : null}
    >
      <NativeSelect
        label={texts.dataset}
        data={[
          { value: anyDataset, label: texts.anyDataset },
          ...offeredNames.map((name) => ({ value: namePrefix + name, label: name })),
          { value: noDataset, label: texts.noDataset },
        ]}
        value={optionOf(dataset)}
        onChange={({ currentTarget: { value } }) =>
          onChange(status, { ...filter, dataset: datasetOf(value) })
        }
      />
      <NativeSelect
        label={texts.status}
        data={ManagedStatus.options.map((value) => ({
          value,
          label:
            counts === undefined ? statusLabels[value] : texts.ofMany(statusLabels[value], counts[value]),
        }))}
        value={status}
        onChange={({ currentTarget: { value } }) => onChange(ManagedStatus.parse(value), filter)}
      />
    </ListToolbar>
  );
}

/** Returns the option value of a filter. @param dataset null: all datasets; empty: the slides without a dataset */
function optionOf(dataset: string | null): string {
  if (dataset === null) return anyDataset;
  return dataset === '' ? noDataset : namePrefix + dataset;
}

/** Inverse of `optionOf`. */
function datasetOf(option: string): string | null {
  if (option === anyDataset) return null;
  return option === noDataset ? '' : option.slice(namePrefix.length);
}
