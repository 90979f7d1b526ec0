import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

const rowKeys = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Placeholder of the catalogue while it loads. Its rows are as high as the real ones, so the layout does not shift afterwards. */
export function CatalogueSkeleton() {
  return (
    <div className={classes.list}>
      <p className={classes.loading} role="status">
        {texts.loadingImages}
      </p>
      <div aria-hidden>
        {rowKeys.map((key) => (
          <div key={key} className={classes.rowPlaceholder}>
            <span className={classes.thumbnail} />
            <span className={classes.rowText}>
              <span className={classes.placeholderLine} />
              <span className={classes.placeholderLine} />
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}
