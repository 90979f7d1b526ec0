import type { Image, ImageOrder } from '@lamina/contract';
import { Alert, Button, Kbd, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import {
  memo,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { loadImageAt, loadPosition, useImageGroups } from '../../api/catalogue.ts';
import { useKeys } from '../../viewer/use-keys.ts';
import { CatalogueFilters } from './CatalogueFilters.tsx';
import { CatalogueList, type CatalogueListHandle } from './CatalogueList.tsx';
import { CatalogueSkeleton } from './CatalogueSkeleton.tsx';
import {
  type CaseGroup,
  type CatalogueFilter,
  caseAt,
  choicesOf,
  type DatasetGroup,
  filterKey,
  groupAt,
  groupsOf,
  listingOf,
  noFilter,
} from './catalogue.ts';
import {
  isBranchOpen,
  rememberScroll,
  useCatalogueViewState,
  withBranchOpened,
} from './catalogue-view-state.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

/** Time without typing, in milliseconds, after which the search request is sent. */
const typingPauseMs = 150;

interface ImageCatalogProps {
  /** Id of the image that the viewer shows; null while it shows none. */
  readonly selectedId: string | null;
  /** Id of the image session (the credential for loading pixels) for the thumbnails; null while there is none. */
  readonly session: string | null;
  /** Called when the mouse button goes down on an image that is not selected, so that its data can load before `onSelect`. */
  readonly onPress: (image: Image) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
  /** Called when the user presses the search key; must make the catalogue visible, so that its search field can be focused. */
  readonly onSearch: () => void;
  /** Called once the first list is loaded, or has failed to load. */
  readonly onReady: () => void;
}

/**
 * The sidebar of the slide viewer: the images (slides) that the user may see, grouped by dataset, with search and
 * filters. The keys n and e open the next image, p and q the previous one. Memoised, because the viewer renders often
 * while the slide moves.
 */
export const ImageCatalog = memo(function ImageCatalog(props: ImageCatalogProps) {
  const { onSearch, onReady, ...listProps } = props;
  const { selectedId, onSelect } = listProps;
  const [viewState, setViewState] = useCatalogueViewState();
  const searchField = useRef<HTMLInputElement>(null);
  const list = useRef<CatalogueListHandle>(null);

  const query = useDebounced(viewState.filter.query, typingPauseMs);
  const { dataset, organ } = viewState.filter;
  /** The search, filters and order with which the server is asked for the list. */
  const listing = useMemo(
    () => listingOf({ query, dataset, organ }, viewState.order),
    [query, dataset, organ, viewState.order],
  );
  const { data: loadedGroups, isLoading, isPrevious, error, reload, pages } = useImageGroups(listing);
  const groups = useMemo(
    () => (loadedGroups === undefined ? noGroups : groupsOf(loadedGroups)),
    [loadedGroups],
  );
  const choices = useMemo(
    () => (loadedGroups === undefined ? noChoices : choicesOf(loadedGroups)),
    [loadedGroups],
  );
  const isReady = loadedGroups !== undefined || error !== null;
  const reportReady = useEffectEvent(() => onReady());
  useEffect(() => {
    if (isReady) reportReady();
  }, [isReady]);
  /** `filterKey` of the shown list (the previous list while a new one is loading); empty for the whole catalogue. */
  const shownFilter = loadedGroups === undefined ? '' : filterKey(loadedGroups.listing);
  /** Returns whether a branch of the list (a group or a case) is open. */
  const isOpen = useCallback(
    (branch: DatasetGroup | CaseGroup) => isBranchOpen(viewState, shownFilter, branch),
    [viewState, shownFilter],
  );
  const onToggle = useCallback(
    (branch: DatasetGroup | CaseGroup, shouldOpen: boolean) =>
      setViewState((before) => withBranchOpened(before, shownFilter, branch, shouldOpen)),
    [setViewState, shownFilter],
  );
  /** Opens the group and the case of the image at a position. */
  const openBranches = (group: DatasetGroup, position: number) => {
    const slideCase = caseAt(group, position);
    for (const branch of slideCase === undefined ? [group] : [group, slideCase]) {
      if (!isOpen(branch)) onToggle(branch, true);
    }
  };

  const isInChosenOrder = !isPrevious && loadedGroups?.listing.order === viewState.order;
  /** Key of the first group of the whole catalogue; undefined while another list is shown. */
  const firstGroup = shownFilter === '' && isInChosenOrder ? groups[0]?.key : undefined;
  // The first group is open by default, and stays open when another group is added before it later.
  // Set during rendering, so that the list is never shown with all groups closed.
  if (viewState.firstGroup === null && firstGroup !== undefined)
    setViewState((before) => ({ ...before, firstGroup }));

  /** Loads the row of an image, and opens its group and case. @returns whether the list contains the image */
  const showRow = useEffectEvent(async (imageId: string): Promise<boolean> => {
    if (loadedGroups === undefined) return false;
    const position = await loadPosition(loadedGroups, imageId);
    const group = position === null ? undefined : groupAt(groups, position);
    if (position === null || group === undefined) return false;
    await loadImageAt(loadedGroups, position);
    openBranches(group, position);
    return true;
  });

  /** Id of the last slide whose row has been shown, because the user selected it or a link opened it; null before. */
  const [shownId, setShownId] = useState<string | null>(null);
  useEffect(() => {
    if (selectedId === null || selectedId === shownId || loadedGroups === undefined) return;
    showRow(selectedId).then(
      (isShown) => isShown && setShownId(selectedId),
      () => undefined, // the effect tries again when the next list is loaded
    );
  }, [selectedId, shownId, loadedGroups]);

  const setFilter = (next: CatalogueFilter) => {
    rememberScroll(0); // another list starts at its top
    setViewState((before) => ({ ...before, filter: next }));
  };
  const setOrder = (order: ImageOrder) => {
    rememberScroll(0);
    setViewState((before) => ({ ...before, order, firstGroup: null })); // opens the first group in the new order
  };

  const takeStep = useSequentialSteps(selectedId, async (currentId, direction) => {
    if (loadedGroups === undefined) return null;
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    const position = currentId === null ? null : await loadPosition(loadedGroups, currentId);
    // When the list does not contain the current image, the next one is the first of the list, and the previous one the last.
    const fallbackPosition = direction === 1 ? 0 : count - 1;
    let nextPosition = position === null ? fallbackPosition : position + direction;
    for (; nextPosition >= 0 && nextPosition < count; nextPosition += direction) {
      const image = await loadImageAt(loadedGroups, nextPosition);
      const group = groupAt(groups, nextPosition);
      if (image?.status !== 'ready' || group === undefined) continue; // skips images that cannot be viewed
      openBranches(group, nextPosition);
      onSelect(image.id);
      return image.id;
    }
    return null;
  });
  const selectNext = () => takeStep(1);
  const selectPrevious = () => takeStep(-1);
  const focusSearch = () => {
    flushSync(onSearch); // shows the catalogue immediately, because a hidden field cannot receive the focus
    searchField.current?.focus();
    searchField.current?.select();
  };
  useKeys({ n: selectNext, e: selectNext, p: selectPrevious, q: selectPrevious, '/': focusSearch });

  return (
    <>
      <div className={classes.head}>
        <Title order={1} size="h4">
          {texts.imageCatalog}
        </Title>
        <TextInput
          ref={searchField}
          type="search"
          placeholder={texts.searchPlaceholder}
          aria-label={texts.searchPlaceholder}
          aria-keyshortcuts="/"
          leftSection={<IconSearch size={18} aria-hidden />}
          rightSection={
            viewState.filter.query === '' && (
              <Kbd className={classes.searchKey ?? ''} aria-hidden>
                /
              </Kbd>
            )
          }
          rightSectionPointerEvents="none"
          value={viewState.filter.query}
          onChange={(event) => setFilter({ ...viewState.filter, query: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' || list.current === null) return;
            event.preventDefault();
            list.current.focus();
          }}
        />
        {error === null && (
          <CatalogueFilters
            {...choices} // `datasets` and `organs`
            isLoading={isLoading}
            filter={viewState.filter}
            order={viewState.order}
            onFilterChange={setFilter}
            onOrderChange={setOrder}
            onClear={() => {
              setFilter(noFilter);
              searchField.current?.focus(); // the pressed button disappears and would lose the focus
            }}
          />
        )}
      </div>
      {error !== null ? (
        <Alert color="red" m="md">
          <p className={classes.error}>{error}</p>
          <Button size="xs" variant="default" onClick={reload}>
            {texts.retry}
          </Button>
        </Alert>
      ) : isLoading || loadedGroups === undefined ? (
        <CatalogueSkeleton />
      ) : groups.length === 0 ? (
        <div className={classes.empty}>
          <p>{shownFilter === '' ? texts.noImages : texts.noMatches}</p>
          {shownFilter === '' && <p>{texts.noImagesHint}</p>}
        </div>
      ) : (
        <CatalogueList
          ref={list}
          loadedGroups={loadedGroups}
          groups={groups}
          pages={pages}
          isBusy={isPrevious}
          listKey={`${loadedGroups.listing.order}\n${shownFilter}`}
          isOpen={isOpen}
          onToggle={onToggle}
          {...listProps}
        />
      )}
    </>
  );
});

const noGroups: readonly DatasetGroup[] = [];
const noChoices = { datasets: [], organs: [] };

/** Returns the text after it has not changed for `pauseMs` milliseconds; an empty text immediately. */
function useDebounced(text: string, pauseMs: number): string {
  const [debounced, setDebounced] = useState(text);
  if (text === '' && debounced !== '') setDebounced(''); // during rendering: the cleared search applies immediately
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs]);
  return debounced;
}

/** Selects the next (1) or previous (-1) image. Resolves with its id, or with null when there is none in that direction. */
type SelectNeighbour = (currentId: string | null, direction: 1 | -1) => Promise<string | null>;

/**
 * Returns a function that selects the next or previous image with `selectNeighbour`. Each key press is a step. Steps run one after the
 * other, and each begins at the image that the previous step has selected.
 */
function useSequentialSteps(selectedId: string | null, selectNeighbour: SelectNeighbour) {
  const latestSelectNeighbour = useRef(selectNeighbour);
  /** The last step, with the id of the image that is selected after it; null when the next step begins at `selectedId`. */
  const lastStep = useRef<{ readonly idAfter: Promise<string | null>; isDone: boolean } | null>(null);
  useLayoutEffect(() => {
    latestSelectNeighbour.current = selectNeighbour;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: after another selection, the next step begins at `selectedId`
  useLayoutEffect(() => {
    if (lastStep.current?.isDone) lastStep.current = null;
  }, [selectedId]);
  return (direction: 1 | -1) => {
    const idBefore = lastStep.current?.idAfter ?? Promise.resolve(selectedId);
    // After a failure and at the end of the list, the same image stays selected.
    const idAfter = idBefore.then(
      async (id) => (await latestSelectNeighbour.current(id, direction).catch(() => null)) ?? id,
    );
    const step = { idAfter, isDone: false };
    lastStep.current = step;
    void idAfter.then(() => {
      step.isDone = true;
    });
  };
}
