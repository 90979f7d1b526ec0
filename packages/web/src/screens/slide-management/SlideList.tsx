import { type ManagedImage, type ManagedStatus, maxImagesAtOnce } from '@lamina/contract';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { invalidateDatasets } from '../../api/datasets.ts';
import { type SlideFilter, useSlideCounts, useSlides } from '../../api/slides.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import type { DialogRequest } from './dialog-request.ts';
import { SelectionBar } from './SelectionBar.tsx';
import { SlideDialog } from './SlideDialog.tsx';
import { SlideFilters } from './SlideFilters.tsx';
import classes from './SlideManagement.module.css';
import { SlideTable } from './SlideTable.tsx';
import { readSlideFilters, writeSlideFilters } from './slide-address.ts';
import { texts } from './texts.ts';

const noFilter: SlideFilter = { search: '', dataset: null };
const noneSelected: ReadonlySet<string> = new Set();

/** The list of slides on the slides screen, with search, filters and selection. The URL contains the search and the filters. */
export function SlideList() {
  const [parameters, setParameters] = useSearchParams();
  const { status, filter } = readSlideFilters(parameters);
  const [selectedIds, setSelectedIds] = useState(noneSelected);
  const [dialog, setDialog] = useState<DialogRequest | null>(null);
  const counts = useSlideCounts(filter);
  const slides = useSlides(status, filter);
  const loadedSlides = slides.data ?? [];
  /** Number of slides that match the status and the filter; before the counts are loaded, the number of loaded slides. */
  const matchingCount = counts.data?.[status] ?? loadedSlides.length;
  // A slide that no longer matches the filters after a change is not selected any more.
  const selectedSlides = loadedSlides.filter(({ id }) => selectedIds.has(id));

  // 'listed', the default status, shows all slides that are neither missing nor removed.
  const isFiltered = status !== 'listed' || filter.search !== '' || filter.dataset !== null;

  function applyFilter(nextStatus: ManagedStatus, nextFilter: SlideFilter) {
    setParameters(writeSlideFilters({ status: nextStatus, filter: nextFilter }), { replace: true });
    setSelectedIds(noneSelected);
  }

  /** Selects or deselects slides, at most `maxImagesAtOnce` in total. */
  const setSelected = (changedSlides: readonly ManagedImage[], isSelected: boolean) => {
    const nextIds = new Set(selectedSlides.map(({ id }) => id));
    for (const { id } of changedSlides) {
      if (!isSelected) nextIds.delete(id);
      else if (nextIds.size < maxImagesAtOnce) nextIds.add(id);
    }
    setSelectedIds(nextIds);
  };

  /** Selects the first `maxImagesAtOnce` slides, and first loads those that are not loaded yet. Selects fewer when loading fails. */
  async function selectMore() {
    let query = slides;
    while (query.hasNextPage && (query.data?.length ?? 0) < maxImagesAtOnce) {
      query = (await query.fetchNextPage()) as typeof slides; // the result has all fields that this function uses
      if (query.isFetchNextPageError) break;
    }
    setSelectedIds(new Set((query.data ?? []).slice(0, maxImagesAtOnce).map(({ id }) => id)));
  }

  /** Reloads the datasets, the counts and the list. When that fails, the list stays as it was. */
  async function refresh() {
    invalidateDatasets();
    const results = [await counts.refetch(), await slides.refetch()];
    const failed = results.find(({ isRefetchError }) => isRefetchError);
    if (failed !== undefined) toast.error(messageOf(failed.error, texts.loadFailed));
  }

  return (
    <Panel
      title={texts.list}
      action={
        <Button
          size="sm"
          variant="default"
          leftSection={<IconRefresh size={18} aria-hidden />}
          loading={slides.isRefetching}
          onClick={() => void refresh()}
        >
          {texts.refresh}
        </Button>
      }
    >
      <SlideFilters
        status={status}
        filter={filter}
        counts={counts.data}
        countText={
          slides.data === undefined
            ? null
            : texts.shown(loadedSlides.length, Math.max(matchingCount, loadedSlides.length)) // the counts may be older than the list
        }
        onChange={applyFilter}
      />
      <SlidesOrState slides={slides} isFiltered={isFiltered} onClear={() => applyFilter('listed', noFilter)}>
        <SlideTable
          slides={loadedSlides}
          selectedIds={selectedIds}
          onSelect={setSelected}
          onOpenDialog={setDialog}
          onNearEnd={() => {
            const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = slides;
            if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void slides.fetchNextPage();
          }}
        />
      </SlidesOrState>
      {selectedSlides.length > 0 && (
        <SelectionBar
          slides={selectedSlides}
          loadedCount={loadedSlides.length}
          matchingCount={matchingCount}
          onSelectMore={() => void selectMore()}
          onClear={() => setSelectedIds(noneSelected)}
          onOpenDialog={setDialog}
        />
      )}
      {dialog !== null && (
        <SlideDialog
          request={dialog}
          onClose={() => setDialog(null)}
          onDone={() => {
            setDialog(null);
            setSelectedIds(noneSelected);
          }}
        />
      )}
    </Panel>
  );
}

interface SlidesOrStateProps {
  readonly slides: ReturnType<typeof useSlides>;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** The table, rendered when there are slides. */
  readonly children: React.ReactNode;
}

/** Renders the table, with a button below that loads the next page, or in its place the loading, failed or empty state of the list. */
function SlidesOrState({ slides, isFiltered, onClear, children }: SlidesOrStateProps) {
  if (slides.isPending) return <Loading label={texts.loading} />;
  if (slides.isLoadingError) {
    return (
      <LoadFailed message={messageOf(slides.error, texts.loadFailed)} onRetry={() => void slides.refetch()} />
    );
  }
  if (slides.data.length === 0) return <NoSlides isFiltered={isFiltered} onClear={onClear} />;

  return (
    <>
      {children}
      <div className={classes.end}>
        {slides.isFetchNextPageError && (
          <LoadFailed message={texts.moreFailed} onRetry={() => void slides.fetchNextPage()} />
        )}
        {!slides.isFetchNextPageError && slides.hasNextPage && (
          <Button
            variant="default"
            loading={slides.isFetchingNextPage}
            onClick={() => void slides.fetchNextPage()}
          >
            {texts.more}
          </Button>
        )}
      </div>
    </>
  );
}

/** Says that no slide matches the filters, with a button that clears them; without filters, that there are no slides yet. */
function NoSlides({ isFiltered, onClear }: Pick<SlidesOrStateProps, 'isFiltered' | 'onClear'>) {
  if (!isFiltered) return <EmptyState title={texts.none} hint={texts.noneHint} />;
  return (
    <EmptyState
      title={texts.empty}
      action={
        <Button size="sm" variant="default" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      }
    />
  );
}
