import { memo } from 'react';
import type { CatalogueImage } from '../../api/images.ts';
import type { CatalogueEntry } from './catalogue.ts';
import classes from './ImageCatalog.module.css';
import { Thumbnail } from './Thumbnail.tsx';
import { texts } from './texts.ts';

const idPrefixLength = 8;

interface ImageRowProps {
  readonly entry: CatalogueEntry;
  /** In its group, from 0, and of how many. */
  readonly place: number;
  readonly count: number;
  /** Pixels from the first row of the group. */
  readonly top: number;
  readonly isSelected: boolean;
  /** The one that the Tab key leads to. */
  readonly isCurrent: boolean;
  readonly session: string | null;
  readonly onPress: (image: CatalogueImage) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
}

/** Remembered: scrolling draws the list again, and its rows stay as they are. */
export const ImageRow = memo(function ImageRow(props: ImageRowProps) {
  const { image, name } = props.entry;
  return (
    <li
      className={classes.row}
      style={{ top: props.top }}
      aria-posinset={props.place + 1}
      aria-setsize={props.count}
    >
      <button
        type="button"
        className={classes.rowButton}
        data-line={image.id}
        tabIndex={props.isCurrent ? 0 : -1}
        aria-current={props.isSelected || undefined}
        onPointerDown={({ pointerType, button }) => {
          // A finger may only want to scroll.
          if (pointerType === 'mouse' && button === 0 && !props.isSelected) props.onPress(image);
        }}
        onClick={() => props.onSelect(image.id)}
      >
        <Thumbnail
          imageId={image.id}
          session={image.status === 'ready' ? props.session : null}
          onFailed={props.onThumbnailFailed}
        />
        <span className={classes.rowText}>
          <span className={classes.rowName} title={name}>
            {name}
          </span>
          <span className={classes.rowDetails}>
            <span>{image.organ_type ?? texts.unknown}</span>
            {image.status !== 'ready' && (
              <span className={classes.rowStatus}>{texts.imageStatus[image.status]}</span>
            )}
            {image.hidden && <span className={classes.rowStatus}>{texts.hidden}</span>}
            <span className={classes.rowId}>{image.id.slice(0, idPrefixLength)}</span>
          </span>
        </span>
      </button>
    </li>
  );
});
